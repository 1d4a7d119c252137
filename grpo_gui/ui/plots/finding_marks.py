"""Findings on the axis: a line at the onset of each, and a tint from the onset of the one whose card is open."""

import pyqtgraph as pg

from grpo_gui.ui import theme
from grpo_gui.ui.models.finding_mark import FindingMark
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.plot_area import PlotArea

TINT_ALPHA = 26  # of 255: a tenth
_LABEL_GAP = 8  # pixels between two names


class FindingMarks:
    """Draws the marks of `SharedAxis.findings`; `named` also writes the names at the top, where there is room."""

    def __init__(self, area: PlotArea, *, named: bool) -> None:
        self._area, self._named = area, named
        self._marks: tuple[FindingMark, ...] = ()
        self._lines: list[pg.InfiniteLine] = []
        self._labels: list[pg.TextItem] = []
        self._tint = pg.LinearRegionItem(movable=False)
        self._tint.setZValue(-5)
        self._tint.hide()
        area.addItem(self._tint, ignoreBounds=True)

    def restyle(self) -> None:
        """Take the colours of the current theme."""
        for mark, line in zip(self._marks, self._lines, strict=True):
            line.setPen(pen(mark.color))
        for mark, label in zip(self._marks, self._labels, strict=False):
            label.setColor(theme.current().color(mark.color))
            label.setFont(theme.font(11, 500))
        shown = next((mark for mark in self._marks if mark.is_shown), None)
        if shown is not None:
            self._tint.setBrush(theme.current().color(shown.color, TINT_ALPHA))
            for edge in self._tint.lines:
                edge.setPen(pen(shown.color))

    def draw(self, drawing: Drawing) -> None:
        """Bring lines, names and tint to the findings of the run."""
        if drawing.axis.findings != self._marks:
            self._make(drawing.axis.findings)
        low, high = drawing.axis.range
        order = sorted(range(len(self._marks)), key=lambda place: (not self._marks[place].is_shown, place))
        taken: list[tuple[float, float]] = []
        for place in order:
            x = drawing.axis.place(self._marks[place].step)
            self._lines[place].setValue(x)
            if self._named:
                self._place_label(place, (x - low) / (high - low) * drawing.columns, x, drawing, taken)
        shown = next((mark for mark in self._marks if mark.is_shown), None)
        self._tint.setVisible(shown is not None)
        if shown is not None:
            end = max(drawing.axis.place(drawing.run.newest_step), drawing.axis.place(shown.step))
            self._tint.setRegion((drawing.axis.place(shown.step), end))

    def _place_label(
        self, place: int, column: float, x: float, drawing: Drawing, taken: list[tuple[float, float]]
    ) -> None:
        label = self._labels[place]
        width = label.boundingRect().width()
        fits_right = column + width <= drawing.columns
        left = column if fits_right else column - width
        label.setAnchor((0.0 if fits_right else 1.0, 0.0))
        label.setPos(x, self._area.y_range[1])
        is_free = all(left >= end + _LABEL_GAP or left + width + _LABEL_GAP <= start for start, end in taken)
        label.setVisible(0 <= column <= drawing.columns and left >= 0 and is_free)
        if label.isVisible():
            taken.append((left, left + width))

    def _make(self, marks: tuple[FindingMark, ...]) -> None:
        for item in (*self._lines, *self._labels):
            self._area.removeItem(item)
        self._marks = marks
        self._lines = [pg.InfiniteLine(angle=90, movable=False) for _ in marks]
        self._labels = [pg.TextItem(mark.name) for mark in marks if self._named]
        for item in (*self._lines, *self._labels):
            self._area.addItem(item, ignoreBounds=True)
        self.restyle()
