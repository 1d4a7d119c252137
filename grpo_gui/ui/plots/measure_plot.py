"""What a detector measured, on the axis of the other plots, with the line of its alarm and the onset."""

import pyqtgraph as pg

from grpo_gui.ui import theme
from grpo_gui.ui.formatting import significant
from grpo_gui.ui.models.run_health import EMPTY_MEASURE, Measure
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.plots.drawing import extent
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.shapes import CurveItem
from grpo_gui.ui.plots.shared_axis import SharedAxis
from grpo_gui.ui.plots.ticks import linear_ticks, padded, value_range

_MUCH = 0.75  # of the height: above it the words stand below their line


class MeasurePlot(PlotArea):
    """One curve, a dashed line at the threshold, a line at the onset."""

    def __init__(self, axis: SharedAxis) -> None:
        self._curve = CurveItem()
        self._alarm = pg.InfiniteLine(angle=0, movable=False)
        self._onset_line = pg.InfiniteLine(angle=90, movable=False)
        self._alarm_label = pg.TextItem(anchor=(0.0, 1.0))
        self._measure, self._threshold, self._onset, self._color = EMPTY_MEASURE, 0.0, 0, "warn"
        super().__init__(axis)
        for item in (self._curve, self._alarm, self._onset_line, self._alarm_label):
            self.addItem(item, ignoreBounds=True)
        axis.range_changed.connect(self._draw)
        axis.range_grown.connect(self._draw)
        theme.follow(self, self.restyle)

    def show_measure(self, measure: Measure, threshold: float, onset: int, color: str) -> None:
        """Show another curve; `color` is the token of the finding's severity."""
        self._measure, self._threshold, self._onset, self._color = measure, threshold, onset, color
        self.restyle()
        self._draw()

    def restyle(self) -> None:
        """Take the colours and sizes of the current theme."""
        super().restyle()
        self._curve.set_pen(pen("blue"))
        self._alarm.setPen(pen(self._color, dash="dash"))
        self._onset_line.setPen(pen(self._color))
        self._alarm_label.setColor(theme.current().color(self._color))
        self._alarm_label.setFont(theme.font(11))

    def _draw(self) -> None:
        steps, values = self._measure
        self.apply_x_range()
        shown = extent(values) or (0.0, 1.0)
        low, high = min(shown[0], self._threshold), max(shown[1], self._threshold)
        bounds = value_range(low, high, max_ticks=self.max_y_ticks())
        self.apply_y_range(padded(bounds, self.label_pad()), linear_ticks(*bounds, self.max_y_ticks()))
        self._curve.set_points(self.axis.run.table.to_axis(self.axis.kind, steps), values)
        self._alarm.setValue(self._threshold)
        self._alarm_label.setText(f"alarm at {significant(self._threshold, 2)}")
        self._alarm_label.setPos(self.axis.range[0], self._threshold)
        upper = (self._threshold - self.y_range[0]) / (self.y_range[1] - self.y_range[0]) > _MUCH
        self._alarm_label.setAnchor((0.0, 0.0 if upper else 1.0))
        self._onset_line.setValue(self.axis.place(self._onset))
