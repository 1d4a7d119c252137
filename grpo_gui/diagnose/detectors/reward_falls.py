"""C: the model gets worse at what it is rewarded for. Not in the facts' list; the plainest sign of a broken update."""

import math
from collections.abc import Sequence

import numpy as np

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import Float64Array, History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import number

NOW_STEPS = 5
BEST_OF = 5
FEWEST = 10
SPREADS = 0.5
DEVIATIONS = 5.0
WITHIN = 200


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Mean reward of the last 5 steps against the best mean of 5 in the last 200: lower by half a spread, and surely.

    The spread is the mean standard deviation of the rewards inside a step; surely means 5 standard errors, from the
    differences of neighbouring steps (von Neumann 1941). The rule is ours.
    """
    rewards = history.tail("reward", WITHIN)
    if len(rewards) < FEWEST:
        return Missing.NOT_ENOUGH
    means = np.convolve(rewards, np.full(BEST_OF, 1 / BEST_OF), mode="valid")
    best, now = float(means.max()), float(means[-1])
    spread = mean_of(history.tail("reward_std", WITHIN))
    limit = max(SPREADS * spread, DEVIATIONS * _error(rewards))
    return Reading(best - now > limit, best - now, limit, Severity.SEVERE, {"best": best, "now": now})


def _error(rewards: Float64Array) -> float:
    """Standard error of the difference of two means of 5 steps."""
    return math.sqrt(mean_of(np.diff(rewards) ** 2) / 2) * math.sqrt(2 / NOW_STEPS)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says from where to where."""
    best, now = number(reading.numbers["best"]), number(reading.numbers["now"])
    headline = f"The model is getting worse: its reward fell from {best} to {now}."
    detail = (
        f"Training should raise the reward. A loss of {number(reading.value)} is more than chance explains (the "
        f"alarm is at {number(reading.threshold)}; means of {NOW_STEPS} steps)."
    )
    cause = "The updates are so large that they destroy what the model could do; usually the learning rate is too high."
    return Words(headline, detail, lower_learning_rate(facts, go_back=True), (cause,))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """The worst completions."""
    return completions_by(steps, lambda one: None if one.reward is None else -one.reward)


DETECTOR = Detector(
    name="reward_falls",
    title="Getting worse",
    needs=("reward", "reward_std"),
    check=check,
    words=words,
    evidence=evidence,
    hold=3,
    roots=(
        "not_finite",
        "fresh_ratio",
        "wrong_mask",
        "weights_stuck",
        "kl_runaway",
        "clip_saturation",
        "truncation",
        "copies",
    ),
    measure="loss of reward since the best five steps",
)
