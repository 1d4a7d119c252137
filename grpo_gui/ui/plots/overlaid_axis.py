"""The x axis of plots that show several runs: it reaches as far as the longest, whose steps the crosshair takes."""

from collections.abc import Sequence

import numpy as np

from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.plots.shared_axis import SharedAxis


class OverlaidAxis(SharedAxis):
    """`run` is the run that comes farthest in what the axis counts."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[RunSeries, ...] = ()

    def use_runs(self, runs: Sequence[RunSeries]) -> None:
        """Show these runs; while following, the range becomes theirs."""
        self._runs = tuple(runs)
        self._take_the_longest()
        self.refresh()

    def set_kind(self, kind: AxisKind) -> None:
        """Count steps, samples, tokens or seconds."""
        super().set_kind(kind)
        self._take_the_longest()
        self.refresh()

    def steps_at_cursor(self, run: RunSeries) -> float | None:
        """The place of the crosshair in steps of a run; None without a crosshair and where the run has not come to."""
        if self.cursor_step is None:
            return None
        place = self.place(self.cursor_step)
        if place > run.table.end(self.kind) * (1 + 1e-9):
            return None
        return float(run.table.to_steps(self.kind, np.array([place]))[0])

    def _take_the_longest(self) -> None:
        longest = max(self._runs, key=lambda run: run.table.end(self.kind), default=RunSeries(0))
        if longest.run_id != self.run.run_id:
            self.set_cursor(None)
        self.run = longest
