"""The numbers in a plot's header: the newest values, or those under the crosshair."""

import math
from dataclasses import dataclass

import numpy as np

from grpo_gui.store.records import Float64Array
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.run_series import RunSeries


@dataclass(frozen=True, slots=True)
class Reading:
    """Values of a run at one step. `step` None means the newest, smoothed as chosen."""

    run: RunSeries
    config: TrainConfig | None
    step: int | None
    weight: float

    def value(self, name: str) -> float:
        """The metric's value, NaN where there is none."""
        series = self.run.series(name)
        if self.step is None:
            return series.last_smoothed(self.weight)
        found = series.nearest(self.step)
        return found[1] if found is not None and found[0] == self.step else math.nan

    def around(self, name: str) -> float:
        """The value at the point nearest to the step, for metrics that are not measured at each."""
        if self.step is None:
            return self.run.series(name).last_value
        found = self.run.series(name).nearest(self.step)
        return found[1] if found is not None else math.nan

    def newest(self, name: str) -> float:
        """The unsmoothed value, for counts and shares that are told as they are."""
        return self.run.series(name).last_value if self.step is None else self.value(name)


def trend(values: Float64Array) -> str:
    """One word for a curve: rising or falling when its last quarter differs from the second by a tenth of its range."""
    finite = values[np.isfinite(values)]
    quarter = len(finite) // 4
    if not quarter:
        return "just begun"
    change = float(finite[-quarter:].mean() - finite[-3 * quarter : -2 * quarter].mean())
    if abs(change) <= 0.1 * float(np.ptp(finite)):
        return "steady"
    return "rising" if change > 0 else "falling"
