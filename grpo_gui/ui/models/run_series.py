"""All curves of one run, fed from the store and from live events without gaps or duplicates."""

from collections.abc import Iterable

import numpy as np

from grpo_gui.events import EvalCompleted, HyperparameterChanged, Metrics, StepCompleted
from grpo_gui.store.records import ChangeRecord, Float64Array, Int64Array, SeriesPoints, StepTotals
from grpo_gui.ui.models.metric_series import MetricSeries
from grpo_gui.ui.models.run_past import RunPast
from grpo_gui.ui.models.step_table import StepTable

_EMPTY = MetricSeries("")


class RunSeries:
    """The curves of a run. Plain Python: made on a background thread, then used on the GUI thread only.

    Live steps are taken in order. When some are missing (the window may skip events, the store may not),
    the newer ones wait until `absorb` has brought the missing ones from the store.
    """

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self.table = StepTable()
        self.changes: list[ChangeRecord] = []
        self.past = RunPast(run_id)
        self.version = 0  # rises with every change, so that a plot sees whether it must be drawn again
        self._series: dict[str, MetricSeries] = {}
        self._waiting: list[StepCompleted | EvalCompleted] = []
        self._must_wait = False

    @property
    def newest_step(self) -> int:
        """The newest step drawn, 0 before the first."""
        return self.table.last_step

    @property
    def needs_store(self) -> bool:
        """True while live events wait for steps that only the store has."""
        return self._must_wait

    @property
    def names(self) -> tuple[str, ...]:
        """The metrics that have points."""
        return tuple(self._series)

    def series(self, name: str) -> MetricSeries:
        """The curve of a metric; an empty one when the run has none."""
        return self._series.get(name, _EMPTY)

    def ends(self) -> dict[str, int]:
        """The newest step of each curve: those of other programs are written at different times."""
        return {name: series.last_step for name, series in self._series.items()}

    def wait_for_store(self) -> None:
        """Let live events wait until the next `absorb`: what was read so far may lack the last uncommitted ones."""
        self._must_wait = True

    def absorb(self, points: Iterable[SeriesPoints], totals: StepTotals) -> None:
        """Append what the store has beyond the newest step, then the live events that waited for it."""
        for curve in points:
            self._made(curve.name, curve.definition_id).extend(curve.steps, curve.values)
        self.table.extend(totals, self._values_at("step_time", totals.steps))
        self.version += 1
        self._must_wait = False
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self.take(event)

    def take(self, event: StepCompleted | EvalCompleted) -> None:
        """Add a live event; it waits when events before it are missing, and is dropped when it is known."""
        if self._must_wait or (isinstance(event, StepCompleted) and event.step > self.newest_step + 1):
            self._must_wait = True
            self._waiting.append(event)
        elif isinstance(event, EvalCompleted) or event.step > self.newest_step:
            self._add_metrics(event.step, event.metrics)
            if isinstance(event, StepCompleted):
                self.table.add(event, dict(event.metrics).get("step_time", float("nan")))
            self.version += 1

    def smooth_ahead(self, weight: float) -> None:
        """Smooth every curve now, so that the first drawing of a long one does not have to."""
        for series in self._series.values():
            series.last_smoothed(weight)

    def take_change(self, event: HyperparameterChanged) -> None:
        """Add a live change of a hyperparameter unless the store has brought it already."""
        change = ChangeRecord(event.step, event.name, event.old, event.new)
        if change not in self.changes:
            self.changes.append(change)
            self.version += 1

    def take_past(self, past: RunPast) -> None:
        """Take what lies before and beside the curves."""
        self.past = past
        self.version += 1

    def _add_metrics(self, step: int, metrics: Metrics) -> None:
        for name, value in metrics:
            self._made(name).add(step, value)

    def _made(self, name: str, definition_id: str = "") -> MetricSeries:
        if name not in self._series:
            self._series[name] = MetricSeries(name, definition_id)
        return self._series[name]

    def _values_at(self, name: str, steps: Int64Array) -> Float64Array:
        curve = self.series(name)
        if not len(curve):
            return np.full(len(steps), np.nan)
        places = np.minimum(np.searchsorted(curve.steps, steps), len(curve) - 1)
        return np.where(curve.steps[places] == steps, curve.values[places], np.nan)
