"""The advantages of every step as a density over the axis, with the newest steps as a histogram beside it."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.records import Float64Array, Int64Array
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import MINUS, number, percent
from grpo_gui.ui.models.step_table import ADVANTAGE_LIMIT, BINS
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.finding_marks import FindingMarks
from grpo_gui.ui.plots.marks import ChangeMarks
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.plot_menu import PlotMenu
from grpo_gui.ui.plots.reading import Reading
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.widgets.card import Card

_STEPS_PER_COLUMN = 2
_PIXELS_PER_COLUMN = 2
_HISTOGRAM_STEPS = 10
_Y_RANGE = (-2.75, 2.75)
_Y_TICKS = [(float(v), f"{MINUS if v < 0 else ''}{abs(v)}") for v in (-2, -1, 0, 1, 2)]


class DensityCard(Card):
    """Advantage density: a column for every two steps or two pixels, shade = sqrt of the share of completions."""

    key = "advantage"
    title = "Advantage"
    step_clicked = Signal(int)
    hide_asked = Signal()
    stale = Signal()

    def __init__(self, axis: SharedAxis) -> None:
        super().__init__(self.title, padding=8)
        self._axis = axis
        self._weight = 0.0
        self.area = PlotArea(axis)
        self.area.apply_y_range(_Y_RANGE, _Y_TICKS)
        self.area.step_clicked.connect(self.step_clicked)
        self._image = pg.ImageItem(axisOrder="col-major")
        self._image.setZValue(-10)
        self.area.addItem(self._image, ignoreBounds=True)
        self._changes = ChangeMarks(self.area, named=False)
        self._findings = FindingMarks(self.area, named=False)
        self._histogram = HistogramStrip(self.area)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.area, 1)
        row.addWidget(self._histogram)
        self.body.addLayout(row, 1)
        self.menu = PlotMenu(self)
        self.menu.hide_asked.connect(self.hide_asked)
        self.menu.attach(self.area)
        self.area.menu_asked.connect(self.open_menu)
        for widget in (self.header.title, self.header.value):
            widget.setToolTip(definition_of("advantage/std").tooltip)
        theme.follow(self, self._restyle)

    def set_config(self, _: TrainConfig | None) -> None:
        """The density needs nothing of the config."""

    def set_smoothing(self, weight: float) -> None:
        """Smooth the number in the header; the density shows everything as it is."""
        self._weight = weight

    def redraw(self) -> None:
        """Draw the visible part of the run and bring the header up to date."""
        self.area.take_growth()
        run, columns = self._axis.run, self.area.plot_width()
        self._draw_image(columns)
        drawing = Drawing(run, self._axis, columns, 0.0, False, 1.0)
        self._changes.draw(drawing)
        self._findings.draw(drawing)
        self._histogram.set_counts(run.table.newest_counts(_HISTOGRAM_STEPS))
        self.update_header()

    def update_header(self) -> None:
        """Show the spread under the crosshair, or the newest."""
        run = self._axis.run
        reading = Reading(run, None, self._axis.cursor_step, self._weight)
        self.header.set_value(number(reading.value("advantage/std")) if run.newest_step else "")
        steps = min(run.newest_step, _HISTOGRAM_STEPS)
        self.header.set_hint(f"std; last {steps} steps at right" if steps > 1 else "std")

    def summary(self) -> str:
        """The density in words: how many completions had no signal lately, and to which side the others lie."""
        counts = self._axis.run.table.newest_counts(_HISTOGRAM_STEPS)
        total = int(counts.sum())
        if not total:
            return "Advantage: no completions yet"
        middle, below = int(counts[BINS // 2]), int(counts[: BINS // 2].sum())
        shares = (percent(part / total, 0) for part in (below, middle, total - below - middle))
        return "Advantage in the last {} steps: {} below 0, {} at 0, {} above".format(
            min(self._axis.run.table.step_count, _HISTOGRAM_STEPS), *shares
        )

    def open_menu(self, position: QPoint) -> None:
        """Open the plot's menu at a place on the screen."""
        self.menu.open_at(position)

    def _draw_image(self, columns: int) -> None:
        low, high = self._axis.range
        table, kind = self._axis.run.table, self._axis.kind
        end = min(high, table.end(kind))
        if not table.step_count or end <= low:
            self._image.clear()
            return
        step_width = end / max(table.last_step, 1)  # on average, where the axis does not count steps
        width = max(_STEPS_PER_COLUMN * step_width, _PIXELS_PER_COLUMN * (high - low) / columns)
        first, last = np.floor(max(low, 0.0) / width), np.ceil(end / width)
        edges = np.arange(first, last + 1) * width
        counts = table.counts_between(table.to_steps(kind, edges))
        self._image.setImage(density_shades(counts), autoLevels=False, levels=(0.0, 1.0))
        self._image.setRect(QRectF(edges[0], -ADVANTAGE_LIMIT, edges[-1] - edges[0], 2 * ADVANTAGE_LIMIT))

    def _restyle(self) -> None:
        self.area.restyle()
        self._changes.restyle()
        self._findings.restyle()
        stops, colors = zip(*theme.current().density_stops, strict=True)
        self._image.setColorMap(pg.ColorMap(stops, colors))
        self._histogram.update()
        self.stale.emit()


class HistogramStrip(QWidget):
    """Horizontal bars at the right of a plot, on its y axis: vermillion below 0, grey at 0, blue above."""

    _WIDTH = 56

    def __init__(self, area: PlotArea) -> None:
        super().__init__()
        self._area = area
        self._counts: Int64Array = np.zeros(BINS, dtype=np.int64)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Histogram of the newest advantages")

    def sizeHint(self) -> QSize:
        """A narrow strip."""
        return QSize(theme.px(self._WIDTH), 40)

    def set_counts(self, counts: Int64Array) -> None:
        """Show other counts, shape (27,)."""
        if not np.array_equal(counts, self._counts):
            self._counts = counts
            self.update()

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw an axis and the bars beside the plot's drawing area."""
        now = theme.current()
        painter = QPainter(self)
        box = self._area.mapFromScene(self._area.getViewBox().sceneBoundingRect()).boundingRect()
        painter.fillRect(QRectF(0, box.top(), 1, box.height()), now.color("line2"))
        most = int(self._counts.max())
        if not most:
            return
        low, high = self._area.y_range
        bin_height = 2 * ADVANTAGE_LIMIT / BINS * box.height() / (high - low)
        for place, count in enumerate(self._counts):
            middle = -ADVANTAGE_LIMIT + (place + 0.5) * 2 * ADVANTAGE_LIMIT / BINS
            y = box.top() + (high - middle) / (high - low) * box.height()
            bar = QRectF(1, y - 0.4 * bin_height, count / most * (self.width() - 4), 0.8 * bin_height)
            painter.fillRect(bar, now.color(_bin_color(place)))


def _bin_color(place: int) -> str:
    if place == BINS // 2:
        return "text3"
    return "advantage_negative" if place < BINS // 2 else "advantage_positive"


def density_shades(counts: Int64Array) -> Float64Array:
    """Shades in [0, 1] of histograms (columns, bins): the square root of the share in a column over the largest one."""
    totals = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    shades: Float64Array = np.sqrt(shares / max(float(shares.max()), 1e-12))
    return shades
