"""Diamonds on a curve where snapshots were made; A and B are filled and named."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg

from grpo_gui.ui import theme
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.plot_area import PlotArea

_SIZE = 8
_BIG = 11


@dataclass(frozen=True, slots=True)
class Mark:
    """One snapshot on the curve: `name` is A, B, both (AB) or empty."""

    step: int
    name: str


class SnapshotMarks:
    """Draws the marks on the smoothed curve of one metric."""

    def __init__(self, area: PlotArea, metric: str) -> None:
        self._area, self._metric = area, metric
        self._marks: tuple[Mark, ...] = ()
        self._chosen: int | None = None
        self._dots = pg.ScatterPlotItem(symbol="d", pxMode=True)
        self._dots.setZValue(25)
        self._names = {name: pg.TextItem(name, anchor=(0.5, 0.0)) for name in ("A", "B", "AB")}
        area.addItem(self._dots, ignoreBounds=True)
        for text in self._names.values():
            text.setZValue(26)
            area.addItem(text, ignoreBounds=True)
        self.restyle()

    def set_marks(self, marks: Sequence[Mark], chosen: int | None) -> None:
        """Show other snapshots; `chosen` is the step under the table's cursor."""
        self._marks, self._chosen = tuple(marks), chosen

    def restyle(self) -> None:
        """Take the colours of the current theme."""
        for text in self._names.values():
            text.setColor(theme.current().color("softtext"))
            text.setFont(theme.font(12, 600))

    def draw(self, drawing: Drawing) -> None:
        """Put the marks where the curve is now."""
        x, y = drawing.curve(self._metric)
        for text in self._names.values():
            text.setVisible(False)
        if not len(x):
            self._dots.setData([])
            return
        now = theme.current()
        spots = []
        for mark in self._marks:
            place = drawing.axis.place(mark.step)
            value = float(np.interp(place, x, y))
            filled = bool(mark.name) or mark.step == self._chosen
            brush = now.color("accent") if filled else now.color("surface")
            spots.append(
                {
                    "pos": (place, value),
                    "size": theme.px(_BIG if filled else _SIZE),
                    "pen": pen("accent"),
                    "brush": brush,
                }
            )
            if mark.name:
                self._names[mark.name].setPos(place, value - 0.03 * (self._area.y_range[1] - self._area.y_range[0]))
                self._names[mark.name].setVisible(True)
        self._dots.setData(spots)

    def nearest(self, step: int, reach: float) -> int | None:
        """The step of the mark closest to `step`, at most `reach` steps away."""
        near = min(self._marks, key=lambda mark: abs(mark.step - step), default=None)
        return near.step if near is not None and abs(near.step - step) <= reach else None
