"""What every layer of a plot needs for one redraw: the run, the axis, the smoothing and the scale."""

from dataclasses import dataclass

import numpy as np

from grpo_gui.store.records import Float64Array
from grpo_gui.ui.models.metric_series import Curve
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.plots.shared_axis import SharedAxis

POINTS_PER_COLUMN = 2


@dataclass(frozen=True, slots=True)
class Drawing:
    """One redraw of one plot. `columns` is its width in pixels, `scale` turns stored values into shown ones."""

    run: RunSeries
    axis: SharedAxis
    columns: int
    weight: float
    log: bool
    scale: float
    shows_replaced: bool = False  # steps that were superseded when the run was resumed from an earlier one

    def step_range(self) -> tuple[float, float]:
        """The shown range in steps of this run: the axis may belong to a longer one."""
        low, high = self.run.table.to_steps(self.axis.kind, np.array(self.axis.range))
        return float(low), float(high)

    def curve(self, name: str, weight: float | None = None) -> Curve:
        """The visible part of a metric in places of the axis and drawn values; None takes the chosen smoothing."""
        low, high = self.step_range()
        weight = self.weight if weight is None else weight
        curve = self.run.series(name).curve(low, high, POINTS_PER_COLUMN * self.columns, weight)
        return Curve(self.run.table.to_axis(self.axis.kind, curve.steps), self.drawn(curve.values * self.scale))

    def gaps(self, name: str) -> Float64Array:
        """Visible places at which a metric was not finite, at most one per pixel column."""
        steps = self.run.series(name).gaps
        low, high = np.searchsorted(steps, self.step_range())
        shown = steps[low : high + 1].astype(np.float64)
        return self.run.table.to_axis(self.axis.kind, shown[:: max(1, len(shown) // self.columns)])

    def drawn(self, values: Float64Array) -> Float64Array:
        """Values as they are drawn: log10 on a log scale, where those at or below 0 have no place (NaN)."""
        if not self.log:
            return values
        positive = np.isfinite(values) & (values > 0)
        return np.log10(values, out=np.full(len(values), np.nan), where=positive)


def extent(values: Float64Array) -> tuple[float, float] | None:
    """Smallest and largest finite value, None without one."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None
