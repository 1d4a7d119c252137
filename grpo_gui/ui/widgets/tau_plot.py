"""You against the program: Kendall's tau by step, the alarm for a reward that is being gamed."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import number
from grpo_gui.ui.models.rating_side import TauCurve
from grpo_gui.ui.plot_style import BAND_ALPHA, pen, raw_pen, style_plot
from grpo_gui.ui.plots.shapes import CurveItem, DotsItem, PolygonItem
from grpo_gui.ui.plots.smoothing import Smoother
from grpo_gui.ui.plots.ticks import Ticks, linear_ticks
from grpo_gui.ui.widgets.labels import label

EXPLAINED = "Kendall tau by step, audit sample only. A falling line is the alarm for a reward that is being gamed."
NOTHING_YET = "Shows once groups of the audit sample, a tenth drawn at random, are rated."
NO_PROGRAM = "Your ratings are the only reward of this run, so there is nothing to compare them with."
_TOOLTIP = (
    "Kendall's tau-b between your order of a group's answers and the program's: 1 the same, 0 none, \u22121 reversed. "
    "Only groups drawn at random count: those chosen because you might disagree would paint it too dark."
)
_SMOOTHING = 0.7
_HEIGHT = 104


class TauPlot(QWidget):
    """Values faint, smoothed on top, the interval as a band."""

    def __init__(self) -> None:
        super().__init__()
        self.value = label("", "value", _TOOLTIP)
        self.note = label(NOTHING_YET, "hint", wrap=True)
        self.plot = pg.PlotWidget()
        self._band, self._raw, self._line, self._dots = PolygonItem(), CurveItem(), CurveItem(), DotsItem()
        self._zero = pg.InfiniteLine(angle=0, movable=False)
        for item in (self._band, self._zero, self._raw, self._line, self._dots):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.setFixedHeight(theme.px(_HEIGHT))
        self.plot.setFocusPolicy(pg.QtCore.Qt.FocusPolicy.NoFocus)
        head = QHBoxLayout()
        head.addWidget(label("You against the program", "title", _TOOLTIP))
        head.addStretch(1)
        head.addWidget(self.value)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.plot)
        column.addWidget(self.note)
        self.plot.hide()
        theme.follow(self, self._restyle)

    def show_curve(self, curve: TauCurve, *, has_program: bool) -> None:
        """Show other points, by rising step; none hide the plot. `has_program`: the run has another reward."""
        count = len(curve.steps)
        self.plot.setVisible(count > 0)
        self.note.setText(EXPLAINED if count else NOTHING_YET if has_program else NO_PROGRAM)
        self.value.setText("")
        if not count:
            return
        x = curve.steps.astype(np.float64)
        smooth = Smoother(_SMOOTHING).extend(curve.tau)
        self._raw.set_points(x, curve.tau)
        self._line.set_points(x, smooth)
        self._dots.set_points(x[:1], curve.tau[:1]) if count == 1 else self._dots.set_points(x[:0], x[:0])
        self._band.set_between(x, curve.low, x, curve.high)
        low, high = (x[0] - 1, x[0] + 1) if count == 1 else (x[0], x[-1])
        view = self.plot.getViewBox()
        view.setXRange(low, high, padding=0.02)
        bottom = min(0.0, float(np.nanmin(curve.low)))
        view.setYRange(bottom, 1.0, padding=0.12)
        self.plot.getPlotItem().getAxis("bottom").setTicks([_whole_ticks(low, high)])
        self.plot.getPlotItem().getAxis("left").setTicks([linear_ticks(min(bottom, 0.0), 1.0, 4)])
        self.value.setText(f"tau {number(float(smooth[-1]))}")
        self.setAccessibleDescription(f"Kendall tau {number(float(smooth[-1]))}, {count} points, {_trend(curve.tau)}")

    def _restyle(self) -> None:
        now = theme.current()
        style_plot(self.plot.getPlotItem(), left_width=36)
        self.plot.getViewBox().setMouseEnabled(x=False, y=False)
        self._raw.set_pen(raw_pen("blue"))
        self._line.set_pen(pen("blue"))
        self._zero.setPen(pen("line2"))
        self._dots.set_colors(now.color("blue"), now.color("surface"))
        self._band.set_colors(now.color("blue", BAND_ALPHA), None)


def _trend(values: np.ndarray) -> str:
    half = len(values) // 2
    if not half:
        return "a single point"
    change = float(np.mean(values[half:]) - np.mean(values[:half]))
    return "falling" if change < -0.1 else "rising" if change > 0.1 else "steady"


def _whole_ticks(low: float, high: float) -> Ticks:
    """Steps are whole numbers."""
    return [(place, f"{place:.0f}") for place, _ in linear_ticks(low, high, 4) if place == round(place)]
