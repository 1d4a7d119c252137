"""The regret curves of the router and of the baselines, with their labels at the lines' ends."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from grpo_gui.router.shadows import THIS_POLICY, RegretCurves
from grpo_gui.store.records import Float64Array
from grpo_gui.ui import theme
from grpo_gui.ui.models.regret_picture import (
    RANDOM,
    STYLES,
    EndLabel,
    end_labels,
    leaves,
    regret_text,
    summary,
    useful_top,
)
from grpo_gui.ui.plot_style import pen, style_plot
from grpo_gui.ui.plots.grid_lines import GridLines
from grpo_gui.ui.plots.shapes import CurveItem
from grpo_gui.ui.plots.ticks import linear_ticks
from grpo_gui.ui.widgets.card import Card

_LABEL_HEIGHT = 15
_LABELS_WIDTH = 122
_MOST_POINTS = 2000
NOTHING = RegretCurves((), {})


class RegretCard(Card):
    """Shows one set of curves; the y range is that of the useful ones, so that random may leave the plot."""

    def __init__(self) -> None:
        super().__init__("Regret", padding=8)
        self._curves, self._top = NOTHING, 1.0
        self.header.set_hint("against the best model per class; lower is better")
        self.header.title.setToolTip(
            "Missed over the rated decisions, against always asking the best model of each class. The baselines "
            "would have answered the same queries; a model that was not asked counts as what is believed of it."
        )
        self.plot = _RegretPlot()
        self.labels = _EndLabels()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.plot, 1)
        row.addWidget(self.labels)
        self.body.addLayout(row, 1)
        theme.follow(self, self._restyle)

    def show_curves(self, curves: RegretCurves) -> None:
        """Draw other curves."""
        self._curves = curves
        self._top = useful_top(curves.curves)
        self.plot.draw(curves, self._top)
        self._place_labels()
        own = curves.curves.get(THIS_POLICY)
        known = own is not None and len(own)
        self.header.set_value(regret_text(float(own[-1])) if own is not None and known else "", "This policy's regret.")
        self.plot.setAccessibleDescription(summary(curves))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the labels with the lines."""
        super().resizeEvent(event)
        self.labels.setVisible(self.width() >= theme.px(260))
        self._place_labels()

    def _place_labels(self) -> None:
        height = max(self.plot.drawing_height(), 1)
        labels = end_labels(self._curves, self.plot.shown_top, theme.px(_LABEL_HEIGHT) / height)
        self.labels.show_labels(labels, height)

    def _restyle(self) -> None:
        self.plot.restyle()
        self.show_curves(self._curves)


class _RegretPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph is untyped
    """The lines alone."""

    def __init__(self) -> None:
        super().__init__()
        self.shown_top = 1.0
        self._shown: tuple[RegretCurves, float] = (NOTHING, 1.0)
        self.setMinimumSize(theme.px(160), theme.px(60))
        self.setAccessibleName("Regret")
        view = self.getViewBox()
        view.disableAutoRange()
        view.setDefaultPadding(0)
        self.setMouseTracking(False)
        self._grid = GridLines()
        self.addItem(self._grid, ignoreBounds=True)
        self._items = {name: CurveItem() for name in STYLES}
        for item in self._items.values():
            self.addItem(item, ignoreBounds=True)
        self._outside = pg.TextItem("", anchor=(0, 0))
        self.addItem(self._outside, ignoreBounds=True)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the current theme."""
        style_plot(self.getPlotItem(), left_width=40)
        self.getViewBox().setMouseEnabled(x=False, y=False)
        for side in ("left", "bottom"):
            self.getPlotItem().getAxis(side).setGrid(False)
        self._grid.set_pen(pen("text3", alpha=theme.current().grid_alpha))
        for name, item in self._items.items():
            item.set_pen(pen(STYLES[name].color, dash=STYLES[name].dash))
        self._outside.setColor(theme.current().color("text3"))
        self._outside.setFont(theme.font(11))

    def drawing_height(self) -> int:
        """Pixels of the drawing area."""
        return int(self.getViewBox().height())

    def draw(self, curves: RegretCurves, top: float) -> None:
        """Draw the curves from 0 to a little above `top`."""
        self._shown = (curves, top)
        last = float(len(curves.decisions)) or 1.0
        self.shown_top = top * 1.02
        view = self.getViewBox()
        view.setXRange(0.0, last, padding=0)
        view.setYRange(0.0, self.shown_top, padding=0)
        for name, item in self._items.items():
            curve = curves.curves.get(name)
            if curve is None or not len(curve):
                item.clear()
            else:
                item.set_points(*_points(curve))
        self._set_ticks(last)
        self._label_random(curves.curves.get(RANDOM), last)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Thin out the ticks when it gets smaller."""
        super().resizeEvent(event)
        if hasattr(self, "_outside"):  # pyqtgraph resizes before the constructor is through
            self.draw(*self._shown)

    def _set_ticks(self, last: float) -> None:
        y_ticks = linear_ticks(0.0, self.shown_top * 0.97, max(2, min(5, self.height() // theme.px(36))))
        x_ticks = linear_ticks(0.0, last, max(2, min(5, self.width() // theme.px(80))))
        x_ticks = [tick for tick in x_ticks if 0.02 * last < tick[0] < 0.96 * last and tick[0] == int(tick[0])]
        self.getPlotItem().getAxis("left").setTicks([y_ticks])
        self.getPlotItem().getAxis("bottom").setTicks([x_ticks])
        self._grid.set_x([place for place, _ in x_ticks], (0.0, last))
        self._grid.set_y([place for place, _ in y_ticks], (0.0, self.shown_top))

    def _label_random(self, curve: Float64Array | None, last: float) -> None:
        out = curve is not None and leaves(curve, self.shown_top)
        self._outside.setVisible(out)
        if curve is None or not out:
            return
        crossing = float(np.argmax(curve > self.shown_top)) + 1.0
        self._outside.setText(f"{STYLES[RANDOM].label} {regret_text(float(curve[-1]))}")
        width = float(self.getViewBox().width())
        is_late = crossing / last * width + self._outside.boundingRect().width() > width
        self._outside.setAnchor((1 if is_late else 0, 0))
        self._outside.setPos(crossing, self.shown_top)


class _EndLabels(QWidget):
    """Names with values, each at the height of its line's end."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: tuple[EndLabel, ...] = ()
        self._height = 1
        self.setFixedWidth(theme.px(_LABELS_WIDTH))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        theme.follow(self, self.update)

    def show_labels(self, labels: tuple[EndLabel, ...], height: int) -> None:
        """Show other labels beside a drawing area of this height that begins at the top."""
        self.labels, self._height = labels, height
        self.setAccessibleName("; ".join(label.text for label in reversed(labels)))
        self.update()

    def sizeHint(self) -> QSize:
        """Room for the longest name."""
        return QSize(theme.px(_LABELS_WIDTH), theme.px(60))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the names in the colours of their lines."""
        painter, now, line = QPainter(self), theme.current(), theme.px(_LABEL_HEIGHT)
        for label in self.labels:
            middle = theme.px(2) + round((1 - label.place) * self._height)
            top = min(max(middle - line // 2, 0), self.height() - line)
            painter.setFont(theme.font(11, 600 if label.name == THIS_POLICY else 400))
            painter.setPen(now.color(STYLES[label.name].color))
            painter.drawText(QRect(0, top, self.width(), line), Qt.AlignmentFlag.AlignVCenter, label.text)


def _points(curve: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The curve from 0 on; of very many decisions only as many points as can be seen."""
    x, y = np.arange(len(curve) + 1, dtype=np.float64), np.concatenate([[0.0], curve])
    if len(x) > _MOST_POINTS:
        keep = np.unique(np.linspace(0, len(x) - 1, _MOST_POINTS).astype(int))
        x, y = x[keep], y[keep]
    return x, y
