"""The past of a run in its plots: seams where it was taken up again, its parent's curve, and replaced steps."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from grpo_gui.store.records import SeriesPoints
from grpo_gui.ui import theme
from grpo_gui.ui.models.run_past import RunPast
from grpo_gui.ui.plot_style import pen
from grpo_gui.ui.plots.drawing import Drawing, extent
from grpo_gui.ui.plots.layers import Extent, joined
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.shapes import CurveItem
from grpo_gui.ui.plots.smoothing import smooth
from grpo_gui.ui.run_text import start_time
from grpo_gui.ui.widgets.legend import LegendEntry

_MOST_POINTS = 4_000  # of a past curve that are drawn


class PastLayer:
    """The parent's reward up to the branch, dashed; on wish also the rewards of steps that were replaced, dotted."""

    def __init__(self) -> None:
        self._parent = CurveItem()
        self._replaced = CurveItem()
        self._entries: list[LegendEntry] = []

    def items(self) -> Sequence[pg.GraphicsObject]:
        """The curves."""
        return self._replaced, self._parent

    def restyle(self) -> None:
        """Muted pens: the run itself stays in front."""
        self._parent.set_pen(pen("text3", dash="dash"))
        self._replaced.set_pen(pen("text3", dash="dot"))

    def draw(self, drawing: Drawing) -> Extent:
        """Draw what there is of the past."""
        past = drawing.run.past
        parents = [] if past.parent is None else [past.parent]
        replaced = past.replaced if drawing.shows_replaced else ()
        self._entries = [LegendEntry("parent", "text3", "dash")] if parents else []
        if replaced:
            self._entries.append(LegendEntry("superseded", "text3", "dash"))
        return joined([_show(self._parent, parents, drawing), _show(self._replaced, replaced, drawing)])

    def legend(self) -> Sequence[LegendEntry]:
        """What is drawn."""
        return self._entries


class SeamMarks:
    """A dashed line where a run was taken up again, and where a branch leaves its parent; `named` says so in words."""

    def __init__(self, area: PlotArea, *, named: bool) -> None:
        self._area, self._named = area, named
        self._lines: list[pg.InfiniteLine] = []
        self._labels: list[pg.TextItem] = []

    def restyle(self) -> None:
        """Take the colours of the current theme."""
        for line in self._lines:
            line.setPen(pen("text3", dash="dash"))
        for text in self._labels:
            text.setColor(theme.current().color("text3"))
            text.setFont(theme.font(11))

    def draw(self, drawing: Drawing) -> None:
        """Bring lines and names to the seams of the run; names stand at the top, those of changes at the bottom."""
        seams = _seams(drawing.run.past)
        if len(self._lines) != len(seams):
            self._make(len(seams))
        low, high = drawing.axis.range
        for place, (step, words) in enumerate(seams):
            x = drawing.axis.place(step)
            self._lines[place].setValue(x)
            if self._named:
                text = self._labels[place]
                text.setText(words)
                column = (x - low) / (high - low) * drawing.columns
                fits_right = column + text.boundingRect().width() <= drawing.columns
                text.setAnchor((0.0 if fits_right else 1.0, 0.0))
                text.setPos(x, self._area.y_range[1])
                text.setVisible(low <= x <= high)

    def _make(self, count: int) -> None:
        for item in (*self._lines, *self._labels):
            self._area.removeItem(item)
        self._lines = [pg.InfiniteLine(angle=90, movable=False) for _ in range(count)]
        self._labels = [pg.TextItem() for _ in range(count if self._named else 0)]
        for item in (*self._lines, *self._labels):
            self._area.addItem(item, ignoreBounds=True)
        self.restyle()


def _seams(past: RunPast) -> list[tuple[int, str]]:
    """Step and words of each seam; of several at one step the newest."""
    found = {seam.step: f"resumed {start_time(seam.time_s)}" for seam in past.seams}
    if past.parent_step is not None:
        found[past.parent_step] = f"branch of run {past.parent_run_id}"
    return sorted(found.items())


def _show(item: CurveItem, curves: Sequence[SeriesPoints], drawing: Drawing) -> Extent:
    """Draw curves in one item, with gaps between them; smoothed like the run's own."""
    xs, ys = [], []
    for curve in curves:
        if len(curve.steps):
            stride = max(1, len(curve.steps) // _MOST_POINTS)
            steps = curve.steps[::stride].astype(np.float64)
            xs.append(drawing.run.table.to_axis(drawing.axis.kind, np.append(steps, steps[-1])))
            values = smooth(curve.values, drawing.weight)[::stride] * drawing.scale
            ys.append(np.append(drawing.drawn(values), np.nan))  # a gap before the next curve
    if not xs:
        item.clear()
        return None
    y = np.concatenate(ys)
    item.set_points(np.concatenate(xs), y)
    return extent(y)
