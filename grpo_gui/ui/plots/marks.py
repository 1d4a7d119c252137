"""Marks that every plot carries: changed hyperparameters, the selected step, values that were not finite."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from grpo_gui.ui import theme
from grpo_gui.ui.models.hyperparameters import change_text
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.plots.drawing import Drawing
from grpo_gui.ui.plots.plot_area import PlotArea

_LABEL_GAP = 8  # pixels between two names of changes


class ChangeMarks:
    """A dotted line where a hyperparameter was changed; `named` also writes what changed, where there is room."""

    def __init__(self, area: PlotArea, *, named: bool) -> None:
        self._area, self._named = area, named
        self._lines: list[pg.InfiniteLine] = []
        self._labels: list[pg.TextItem] = []

    def restyle(self) -> None:
        """Take the colours of the current theme."""
        for line in self._lines:
            line.setPen(pen("text2", dash="dot"))
        for label in self._labels:
            label.setColor(theme.current().color("text2"))
            label.setFont(theme.font(11))

    def draw(self, drawing: Drawing) -> None:
        """Bring lines and names to the changes of the run."""
        changes = drawing.run.changes
        if len(self._lines) != len(changes):
            self._make(len(changes))
        free_from = -np.inf
        low, high = drawing.axis.range
        for place, change in enumerate(changes):
            x = drawing.axis.place(change.step)
            self._lines[place].setValue(x)
            if self._named:
                label = self._labels[place]
                label.setText(change_text(change))
                column = (x - low) / (high - low) * drawing.columns
                width = label.boundingRect().width()
                fits_right = column + width <= drawing.columns
                left = column if fits_right else column - width
                label.setAnchor((0.0 if fits_right else 1.0, 1.0))
                label.setPos(x, self._area.y_range[0])
                label.setVisible(low <= x <= high and left >= max(free_from, 0.0))
                free_from = max(free_from, left + width + _LABEL_GAP) if label.isVisible() else free_from

    def _make(self, count: int) -> None:
        for item in (*self._lines, *self._labels):
            self._area.removeItem(item)
        self._lines = [pg.InfiniteLine(angle=90, movable=False) for _ in range(count)]
        self._labels = [pg.TextItem() for _ in range(count if self._named else 0)]
        for item in (*self._lines, *self._labels):
            self._area.addItem(item, ignoreBounds=True)
        self.restyle()


class GapMarks:
    """A cross at the lower edge wherever one of the plot's metrics was not finite."""

    def __init__(self, area: PlotArea) -> None:
        self._area = area
        self._crosses = pg.ScatterPlotItem(size=8, symbol="x")
        self._crosses.setZValue(20)
        self._crosses.setVisible(False)  # an item without points is painted too
        self.count = 0  # in view
        area.addItem(self._crosses, ignoreBounds=True)
        self.restyle()

    def restyle(self) -> None:
        """Take the colours of the current theme."""
        self._crosses.setPen(pen("bad"))
        self._crosses.setBrush(theme.current().color("bad"))

    def draw(self, drawing: Drawing, names: Sequence[str]) -> None:
        """Put the crosses where they belong."""
        places = np.unique(np.concatenate([drawing.gaps(name) for name in names])) if names else np.array([])
        if self.count == len(places) == 0:
            return
        self.count = len(places)
        self._crosses.setVisible(self.count > 0)
        low, high = self._area.y_range
        self._crosses.setData(places, np.full(len(places), low + 0.05 * (high - low)))
