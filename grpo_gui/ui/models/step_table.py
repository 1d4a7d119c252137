"""What the axes and the advantage density need of every step: samples, tokens, time and a histogram."""

from enum import Enum

import numpy as np

from grpo_gui.events import StepCompleted
from grpo_gui.store.records import Float64Array, Int64Array, StepTotals
from grpo_gui.ui.models.growing import GrowingArray

BINS = 27
ADVANTAGE_LIMIT = 2.6


class AxisKind(Enum):
    """What the shared axis of the plots counts."""

    STEP = "step"
    SAMPLES = "samples"
    TOKENS = "tokens"
    TIME = "time"


class StepTable:
    """One row per step, row 0 is the start (step 0). Histograms are running sums, so any span is one subtraction."""

    def __init__(self) -> None:
        self._steps = GrowingArray(np.int64)
        self._samples = GrowingArray(np.float64)
        self._tokens = GrowingArray(np.float64)
        self._times = GrowingArray(np.float64)
        self._sums = GrowingArray(np.int64, (BINS,))
        self._steps.extend([0])
        self._samples.extend([0])
        self._tokens.extend([0])
        self._times.extend([0.0])
        self._sums.extend(np.zeros((1, BINS)))
        self._last_clock_s = float("nan")

    @property
    def last_step(self) -> int:
        """The newest step, 0 before the first."""
        return int(self._steps.view[-1])

    @property
    def step_count(self) -> int:
        """How many steps are known."""
        return len(self._steps) - 1

    def extend(self, totals: StepTotals, step_times_s: Float64Array) -> None:
        """Append rows of the store newer than the newest; `step_times_s` belongs to them, NaN where unknown."""
        first = int(np.searchsorted(totals.steps, self.last_step, side="right"))
        if first == len(totals.steps):
            return
        clock = totals.times_s[first:]
        elapsed = np.diff(clock, prepend=self._last_clock_s if self.step_count else clock[0])
        took = np.where(np.isfinite(step_times_s[first:]), step_times_s[first:], elapsed)
        self._times.extend(self._times.view[-1] + np.cumsum(took))
        self._steps.extend(totals.steps[first:])
        self._samples.extend(totals.samples[first:])
        self._tokens.extend(totals.tokens[first:])
        self._sums.extend(self._sums.view[-1] + np.cumsum(totals.advantage_counts[first:], axis=0))
        self._last_clock_s = float(clock[-1])

    def add(self, event: StepCompleted, step_time_s: float) -> None:
        """Append one live step, which must be newer than the newest one."""
        completions = [completion for group in event.groups for completion in group.completions]
        advantages = [completion.advantage for completion in completions]
        elapsed = event.time_s - self._last_clock_s if self.step_count else 0.0
        took = step_time_s if np.isfinite(step_time_s) else elapsed
        self._times.extend([self._times.view[-1] + took])
        self._steps.extend([event.step])
        self._samples.extend([self._samples.view[-1] + len(completions)])
        self._tokens.extend([self._tokens.view[-1] + sum(len(completion.token_ids) for completion in completions)])
        self._sums.extend(self._sums.view[-1:] + advantage_counts(advantages))
        self._last_clock_s = event.time_s

    def to_axis(self, kind: AxisKind, steps: Float64Array) -> Float64Array:
        """Steps as places on the axis; between two steps in proportion."""
        if kind is AxisKind.STEP:
            return steps
        return np.interp(steps, self._steps.view, self._column(kind))

    def to_steps(self, kind: AxisKind, places: Float64Array) -> Float64Array:
        """Places on the axis as steps; the reverse of `to_axis`, held at the ends."""
        if kind is AxisKind.STEP:
            return places
        return np.interp(places, self._column(kind), self._steps.view)

    def end(self, kind: AxisKind) -> float:
        """The place of the newest step."""
        return float(self._steps.view[-1] if kind is AxisKind.STEP else self._column(kind)[-1])

    def counts_between(self, step_edges: Float64Array) -> Int64Array:
        """Advantage histograms of the spans (edge_i, edge_{i+1}]: shape (len(step_edges) - 1, 27)."""
        rows = np.searchsorted(self._steps.view, step_edges, side="right") - 1
        counts: Int64Array = np.diff(self._sums.view[np.maximum(rows, 0)], axis=0)
        return counts

    def newest_counts(self, steps: int) -> Int64Array:
        """The advantage histogram of the newest `steps` steps: shape (27,)."""
        counts: Int64Array = self._sums.view[-1] - self._sums.view[max(len(self._sums) - 1 - steps, 0)]
        return counts

    def _column(self, kind: AxisKind) -> Float64Array:
        if kind is AxisKind.SAMPLES:
            return self._samples.view
        return self._tokens.view if kind is AxisKind.TOKENS else self._times.view


def advantage_counts(advantages: list[float]) -> Int64Array:
    """Histogram over [-2.6, 2.6] in 27 bins, outliers in the end bins; NaN is left out."""
    values = np.asarray(advantages, dtype=np.float64)
    values = np.clip(values[np.isfinite(values)], -ADVANTAGE_LIMIT, ADVANTAGE_LIMIT)
    return np.histogram(values, bins=BINS, range=(-ADVANTAGE_LIMIT, ADVANTAGE_LIMIT))[0].astype(np.int64)
