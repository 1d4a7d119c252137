"""One metric of a run: its points, thinned for drawing, and the same smoothed."""

import math
from typing import NamedTuple

import numpy as np

from grpo_gui.store.records import Float64Array, Int64Array
from grpo_gui.ui.models.growing import GrowingArray
from grpo_gui.ui.models.thinned_curve import ThinnedCurve
from grpo_gui.ui.plots.smoothing import Smoother


class Curve(NamedTuple):
    """Points to draw: steps (as float) and values, thinned so that no peak is lost."""

    steps: Float64Array
    values: Float64Array


class MetricSeries:
    """The points of one metric by rising step, without duplicates; NaN marks a value that was not finite.

    Single live points gather in a list and reach the arrays together, when somebody looks.
    """

    def __init__(self, name: str, definition_id: str = "") -> None:
        self.name = name
        self.definition_id = definition_id
        self.last_step = -1  # of the newest point; -1 before the first
        self.last_value = math.nan
        self._steps = GrowingArray(np.int64)
        self._values = GrowingArray(np.float64)
        self._gaps = GrowingArray(np.int64)
        self._new_steps: list[int] = []
        self._new_values: list[float] = []
        self._raw = ThinnedCurve()
        self._smoothed = _SmoothedSeries(0.0)

    def __len__(self) -> int:
        return len(self._steps) + len(self._new_steps)

    @property
    def steps(self) -> Int64Array:
        """Steps of the points; a view that is valid until the next point."""
        self._flush()
        return self._steps.view

    @property
    def values(self) -> Float64Array:
        """Values of the points; a view that is valid until the next point."""
        self._flush()
        return self._values.view

    @property
    def gaps(self) -> Int64Array:
        """Steps whose value was not finite."""
        self._flush()
        return self._gaps.view

    def add(self, step: int, value: float) -> None:
        """Append one point unless it is known already."""
        if step > self.last_step:
            self.last_step, self.last_value = step, value if math.isfinite(value) else math.nan
            self._new_steps.append(step)
            self._new_values.append(self.last_value)

    def extend(self, steps: Int64Array, values: Float64Array) -> None:
        """Append the points that are newer than the newest one; the others are known already."""
        self._flush()
        first = int(np.searchsorted(steps, self.last_step, side="right"))
        if first < len(steps):
            self._append(steps[first:], values[first:])

    def curve(self, low: float, high: float, max_points: int, weight: float = 0.0) -> Curve:
        """The part between two steps, smoothed over the whole series with `weight`, thinned to about `max_points`."""
        self._flush()
        curve = self._raw if weight == 0.0 else self._smooth(weight).curve
        return Curve(*curve.query(low, high, max_points))

    def last_smoothed(self, weight: float) -> float:
        """The newest smoothed value, NaN before the first finite one."""
        self._flush()
        return self.last_value if weight == 0.0 else self._smooth(weight).newest

    def nearest(self, step: float) -> tuple[int, float] | None:
        """The point closest to `step`, None without points."""
        steps = self.steps
        if not len(steps):
            return None
        right = min(int(np.searchsorted(steps, step)), len(steps) - 1)
        left = max(right - 1, 0)
        place = left if abs(steps[left] - step) <= abs(steps[right] - step) else right
        return int(steps[place]), float(self.values[place])

    def _smooth(self, weight: float) -> "_SmoothedSeries":
        if self._smoothed.weight != weight:
            self._smoothed = _SmoothedSeries(weight)
        self._smoothed.catch_up(self._steps.view, self._values.view)
        return self._smoothed

    def _flush(self) -> None:
        if self._new_steps:
            steps, values = np.array(self._new_steps, dtype=np.int64), np.array(self._new_values, dtype=np.float64)
            self._new_steps, self._new_values = [], []
            self._append(steps, values)

    def _append(self, steps: Int64Array, values: Float64Array) -> None:
        values = np.where(np.isfinite(values), values, np.nan)
        self._steps.extend(steps)
        self._values.extend(values)
        self._gaps.extend(steps[np.isnan(values)])
        self._raw.append(steps, values)
        self.last_step, self.last_value = int(steps[-1]), float(values[-1])


class _SmoothedSeries:
    """The smoothed points of a series for one weight, made as they come."""

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.newest = math.nan
        self.curve = ThinnedCurve()
        self._smoother = Smoother(weight)
        self._done = 0

    def catch_up(self, steps: Int64Array, values: Float64Array) -> None:
        """Smooth the points that came since the last call."""
        if self._done == len(steps):
            return
        smoothed = self._smoother.extend(values[self._done :])
        self.curve.append(steps[self._done :], smoothed)
        finite = smoothed[np.isfinite(smoothed)]
        self.newest = float(finite[-1]) if len(finite) else self.newest
        self._done = len(steps)
