"""Is it learning, has it a signal, what does it produce: the numbers behind the three cells, in words."""

import math
from dataclasses import dataclass

import numpy as np

from grpo_gui.store.records import Float64Array
from grpo_gui.ui.formatting import NOTHING, count, number, percent, significant
from grpo_gui.ui.models.metric_series import MetricSeries
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.shown_step import ShownStep, distinct_count, right_count

WINDOW_STEPS = 50
DEAD_STEPS = 20
_LEAST_POINTS = 4  # for an interval: two are used up by the line itself
# 97.5 % points of Student's t for 1, 2, ... degrees of freedom; 2.0 beyond
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
_CLEAR_FALL = 0.1  # share of the first value
_JUMPS = 4.0  # times the usual difference of two neighbours
_NOT_FINITE_IN = ("loss", "grad_norm", "kl", "entropy", "reward")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a number, what it is, a sentence below, and good, warn, bad or nothing as its tone.

    `shorter` are wordings of the sentence, and `short_unit` one of the unit, for a narrow window.
    """

    headline: str
    unit: str
    sentence: str
    tone: str = ""
    shorter: tuple[str, ...] = ()
    short_unit: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """How much a curve moved over `steps` steps along its fitted line, with a 95 % interval (NaN: too few points)."""

    steps: int
    change: float
    margin: float

    @property
    def words(self) -> str:
        """+0.06 in 50 steps (likely +0.03 to +0.09)."""
        return self.wordings[0]

    @property
    def wordings(self) -> tuple[str, ...]:
        """The words, then shorter ones for a narrow window."""
        moved = number(self.change, sign=True)
        in_steps = f"{moved} in {count(self.steps)} steps"
        if math.isnan(self.margin):
            return (in_steps,)
        low, high = self.change - self.margin, self.change + self.margin
        if low <= 0 <= high:
            return f"{in_steps}, within the noise", f"{moved}, within the noise"
        span = f"{number(low, sign=True)} to {number(high, sign=True)}"
        return f"{in_steps} (likely {span})", f"{in_steps} ({span})", f"{moved} ({span})"


def change_of(series: MetricSeries, window: int = WINDOW_STEPS) -> Change | None:
    """The change of a curve over its last `window` steps by least squares; None before the second point."""
    steps, values = series.steps, series.values
    first = int(np.searchsorted(steps, series.last_step - window))
    known = np.isfinite(values[first:])
    x, y = steps[first:][known].astype(np.float64), values[first:][known]
    if len(x) < 2 or x[0] == x[-1]:
        return None
    span = float(x[-1] - x[0])
    slope, error = _line(x, y)
    return Change(round(span), slope * span, error * span)


def learning(run: RunSeries) -> Cell:
    """Held-out reward where there are evaluations, else the reward of training, and its change."""
    held_out = run.series("eval/reward")
    series, name = (held_out, "held-out reward") if len(held_out) else (run.series("reward"), "reward in training")
    if not len(series):
        return Cell(NOTHING, "held-out reward", "no step yet")
    change = change_of(series)
    value = series.last_value if series is held_out else series.last_smoothed(0.88)
    words = change.wordings if change is not None else ("change after the next evaluation",)
    tone = _tone(change)
    short = "held-out" if series is held_out else "in training"
    if series is held_out and tone != "good" and (start := _fallen_from(series)) is not None:
        words, tone = (f"down from {number(start)} at the start", f"down from {number(start)}"), "warn"
    return Cell(number(value), name, words[0], tone, words[1:], short)


def _fallen_from(series: MetricSeries) -> float | None:
    """The first value of a curve when the newest lies clearly below it, else None.

    A line over the newest steps does not show a sudden fall: at the fall it fits badly, and afterwards it is level.
    """
    values = series.values[np.isfinite(series.values)]
    if len(values) < _LEAST_POINTS:
        return None
    start, jumps = float(values[0]), np.abs(np.diff(values))
    clear = max(_CLEAR_FALL * abs(start), _JUMPS * float(np.median(jumps)))
    return start if start - float(values[-1]) > clear else None


def _tone(change: Change | None) -> str:
    """Good for a rise that is more than noise, warn for such a fall."""
    if change is None or not abs(change.change) > change.margin:
        return ""
    return "good" if change.change > 0 else "warn"


def signal(run: RunSeries) -> Cell:
    """How many groups teach something, what became of the others, and values that are not finite."""
    broken = sum(len(run.series(name).gaps) for name in _NOT_FINITE_IN)
    if broken:
        where = ", ".join(name for name in _NOT_FINITE_IN if len(run.series(name).gaps))
        return Cell(count(broken), "values not finite", f"{where}: see the crosses", "bad")
    dead = _mean(run, "frac_reward_zero_std")
    if math.isnan(dead):
        return Cell(NOTHING, "groups with signal", "no step yet")
    parts = [
        f"{percent(share, 0)} {word}"
        for name, word in (("all_right", "all right"), ("all_wrong", "all wrong"), ("other", "equal otherwise"))
        if (share := _mean(run, f"dead_groups/{name}")) >= 0.005
    ]
    sentence = f"in {_steps(run)} steps: " + (", ".join(parts) if parts else "every group teaches")
    return Cell(percent(1 - dead, 0), "of groups with signal", sentence)


def output(newest: ShownStep | None, steps: int = 0) -> Cell:
    """How many are right in the newest step, how varied the groups are, how many were cut off.

    `steps` counts those of the run: one that was trained elsewhere may have recorded no completions.
    """
    if newest is None:
        return Cell(NOTHING, "right", "no completions recorded" if steps else "no step yet")
    completions = newest.completions
    distinct = sum(distinct_count(group) for group in newest.groups) / len(newest.groups)
    size = len(completions) / len(newest.groups)
    truncated = sum(completion.truncated for completion in completions)
    sentence = f"{number(distinct, 1)} distinct of {size:g} per group, {truncated} truncated"
    shorter = (f"{number(distinct, 1)} of {size:g} distinct, {truncated} truncated",)
    right = right_count(completions)
    if right is None:
        unit, short = "completions in the last step", "completions"
        return Cell(count(len(completions)), unit, sentence, shorter=shorter, short_unit=short)
    headline = f"{count(right)} of {count(len(completions))}"
    return Cell(headline, "right in the last step", sentence, shorter=shorter, short_unit="right")


def drift(run: RunSeries) -> str:
    """KL and clipping in a few words, for the tooltip of the signal."""
    low, high = run.series("clip_ratio/low_mean").last_value, run.series("clip_ratio/high_mean").last_value
    return f"KL {significant(run.series('kl').last_value, 2)}, clipped {percent(low)} low and {percent(high)} high"


def _mean(run: RunSeries, name: str) -> float:
    values = run.series(name).values[-DEAD_STEPS:]
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


def _steps(run: RunSeries) -> int:
    return min(len(run.series("frac_reward_zero_std")), DEAD_STEPS)


def _line(x: Float64Array, y: Float64Array) -> tuple[float, float]:
    """Slope of the least-squares line, and half the width of its 95 % interval (NaN with fewer than 4 points)."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    freedom = len(x) - 2
    if len(x) < _LEAST_POINTS:
        return slope, math.nan
    rest = y - y.mean() - slope * centred
    t = _T[freedom - 1] if freedom <= len(_T) else 2.0
    return slope, t * math.sqrt(float(rest @ rest) / freedom / float(centred @ centred))
