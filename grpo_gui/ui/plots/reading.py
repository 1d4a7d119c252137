"""The numbers in a plot's header: the newest values, or those under the crosshair."""

import math
from dataclasses import dataclass

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


def trend(values_then: float, values_now: float, spread: float) -> str:
    """One word for what a smoothed curve does: rising, falling, or steady within a tenth of its spread."""
    change = values_now - values_then
    if not math.isfinite(change):
        return "not measured"
    if abs(change) <= 0.1 * spread:
        return "steady"
    return "rising" if change > 0 else "falling"
