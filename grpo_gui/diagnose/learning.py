"""Is it learning: slopes with honest intervals, in a sentence, and what more it would take to see a gain."""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from grpo_gui.diagnose.history import Float64Array, History, Int64Array
from grpo_gui.diagnose.prompts import PromptOutcomes, PromptRecord
from grpo_gui.diagnose.text import steps as step_words

BLOCK = 10
RESAMPLES = 400
WINDOW = 200  # newest values that a slope is fitted to
FEWEST = 8
ROUNDING = 1e-9  # a curve that moves less stands still
GAIN = 0.05  # a gain worth waiting for
SURE = 0.95
LISTED = 20


class Verdict(Enum):
    """What the interval of a slope says."""

    RISING = "rising"
    FALLING = "falling"
    SAME = "the same all the time"
    UNCLEAR = "no improvement distinguishable from noise"
    NOT_ENOUGH = "not enough data"


@dataclass(frozen=True, slots=True)
class Progress:
    """How one curve moved over its last `steps` steps, with a 95 % interval; all NaN without enough data.

    `more_steps` is about how many more steps it takes until a gain of 0.05 could be told from noise; None where the
    verdict is clear.
    """

    subject: str  # reward, held-out accuracy, repeated prompts
    verdict: Verdict
    steps: int
    change: float
    low: float
    high: float
    more_steps: int | None = None

    @property
    def sentence(self) -> str:
        """What a person reads."""
        name = f"{self.subject[0].upper()}{self.subject[1:]}"
        if self.verdict is Verdict.NOT_ENOUGH:
            return f"{name}: not enough data yet."
        if self.verdict is Verdict.SAME:
            return f"{name}: the same all the time, for {step_words(self.steps)}."
        moved = f"{self.change:+.2f} in {step_words(self.steps)} (likely {self.low:+.2f} to {self.high:+.2f})"
        moved = moved.replace("-", "−")
        if self.verdict is not Verdict.UNCLEAR:
            return f"{name}: {self.verdict.value}, {moved}."
        return f"{name}: {moved}; {self.verdict.value}, about {self.more_steps} more steps to see +{GAIN}."


@dataclass(frozen=True, slots=True)
class LearningReport:
    """All that is known of whether a run learns. Prompts are listed from the most tried down, at most 20 each."""

    progress: tuple[Progress, ...]
    never_solved: tuple[PromptRecord, ...]
    always_solved: tuple[PromptRecord, ...]


def learning_report(history: History, prompts: PromptOutcomes) -> LearningReport:
    """Reward, held-out accuracy and repeated prompts, each by itself."""
    return LearningReport(
        progress=(
            curve_progress(
                "held-out accuracy", history.steps("eval/accuracy"), history.values("eval/accuracy"), block=1
            ),
            curve_progress("reward", history.steps("reward"), history.values("reward")),
            repeated_prompts_progress(prompts),
        ),
        never_solved=prompts.never_solved()[:LISTED],
        always_solved=prompts.always_solved()[:LISTED],
    )


def curve_progress(
    subject: str, steps: Int64Array, values: Float64Array, *, block: int = BLOCK, window: int = WINDOW, seed: int = 0
) -> Progress:
    """The change along the least-squares line of the newest values, with an interval by a block bootstrap.

    Blocks of residuals (Kuensch 1989) keep the dependence of neighbouring steps. The same seed gives the same numbers.
    """
    steps, values = steps[-window:], values[-window:]
    if len(values) < FEWEST or steps[-1] == steps[0]:
        return _unknown(subject)
    span = float(steps[-1] - steps[0])
    if float(np.ptp(values)) <= ROUNDING:
        return Progress(subject, Verdict.SAME, round(span), 0.0, 0.0, 0.0)
    x = (steps - steps.mean()).astype(np.float64)
    weights = x / float(x @ x)
    slope = float(weights @ values)
    rest = values - values.mean() - slope * x
    width = max(1, min(block, len(values) // 4))
    slopes = slope + _resampled(rest, width, np.random.default_rng(seed)) @ weights
    low, high = np.quantile(slopes, [(1 - SURE) / 2, (1 + SURE) / 2]) * span
    spacing = span / (len(values) - 1)
    return _judged(subject, round(span), slope * span, float(low), float(high), _more_steps(rest, width, spacing, span))


def _resampled(rest: Float64Array, width: int, generator: np.random.Generator) -> Float64Array:
    """RESAMPLES rows of residuals, each put together from blocks with random beginnings."""
    blocks = math.ceil(len(rest) / width)
    starts = generator.integers(0, len(rest) - width + 1, size=(RESAMPLES, blocks, 1))
    places = (starts + np.arange(width)).reshape(RESAMPLES, -1)[:, : len(rest)]
    return np.asarray(rest[places] * math.sqrt(len(rest) / max(len(rest) - 2, 1)))


def _more_steps(rest: Float64Array, width: int, spacing: float, span: float) -> int:
    """Steps until +0.05 between the halves of the window is two standard errors, less those that are there.

    The variance of block means, times the width of a block, is that of independent values with the same effect.
    """
    whole = len(rest) // width * width
    means = rest[len(rest) - whole :].reshape(-1, width).mean(axis=1)
    variance = float(means.var(ddof=1)) * width if len(means) > 1 else float(rest.var())
    needed = 2 * 2 * variance * (2 / GAIN) ** 2 * spacing
    return max(BLOCK, math.ceil(max(needed - span, needed / 10) / BLOCK) * BLOCK)


def repeated_prompts_progress(prompts: PromptOutcomes, seed: int = 0) -> Progress:
    """The change of the share right on prompts that came again, each compared with itself.

    Shares and steps are centred in their prompt, so that a change of the mix of prompts cannot pass for progress; the
    bootstrap draws whole prompts.
    """
    rows = prompts.repeated()
    if len(rows) < FEWEST:
        return _unknown("repeated prompts")
    moments = np.array([_moments(steps, shares) for steps, shares in rows])
    total = moments.sum(axis=0)
    if total[1] <= 0:
        return _unknown("repeated prompts")
    first, last = min(steps.min() for steps, _ in rows), max(steps.max() for steps, _ in rows)
    span = float(last - first)
    if float(np.abs(moments[:, 0]).max()) <= ROUNDING:
        return Progress("repeated prompts", Verdict.SAME, round(span), 0.0, 0.0, 0.0)
    generator = np.random.default_rng(seed)
    drawn = moments[generator.integers(0, len(rows), size=(RESAMPLES, len(rows)))].sum(axis=1)
    slopes = drawn[:, 0] / np.maximum(drawn[:, 1], 1e-12)
    low, high = np.quantile(slopes, [(1 - SURE) / 2, (1 + SURE) / 2]) * span
    error = max((float(high) - float(low)) / 4, 1e-9)
    more = span * max((2 * error / GAIN) ** 2 - 1, 0.1)
    change = float(total[0] / total[1]) * span
    return _judged("repeated prompts", round(span), change, float(low), float(high), math.ceil(more / BLOCK) * BLOCK)


def _moments(steps: Float64Array, shares: Float64Array) -> tuple[float, float]:
    centred = steps - steps.mean()
    return float(centred @ (shares - shares.mean())), float(centred @ centred)


def _judged(subject: str, steps: int, change: float, low: float, high: float, more_steps: int) -> Progress:
    if low > 0:
        return Progress(subject, Verdict.RISING, steps, change, low, high)
    if high < 0:
        return Progress(subject, Verdict.FALLING, steps, change, low, high)
    return Progress(subject, Verdict.UNCLEAR, steps, change, low, high, more_steps)


def _unknown(subject: str) -> Progress:
    return Progress(subject, Verdict.NOT_ENOUGH, 0, math.nan, math.nan, math.nan)
