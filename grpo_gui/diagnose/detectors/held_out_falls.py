"""D: the reward rises while the held-out result falls or stays. Not in the facts' list; it needs no samples."""

import math
from collections.abc import Sequence

import numpy as np

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import Float64Array, History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import fitted_line, mann_kendall, mean_of, student_p
from grpo_gui.diagnose.text import number

FIRST = 3
LARGEST_TREND = 120
FEWEST = 6
LONGEST = 12
FALL = 0.05
P = 0.01
GAP_RISE = 1.0  # in spreads of the reward
GAP_ROOM = 0.1


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Held-out accuracy falls while the reward rises, or stays where it was though the reward rose a lot.

    Falls: over the last 6 to 12 evaluations the slope is below 0 with p < .01 (Student), the fall is at least .05,
    and the reward rises over the same steps (Mann-Kendall, p < .01). Stays: the reward of the last 20 steps is a whole
    spread above that of the first 20, and held-out accuracy, mean of the last 3 against the first 3, is at most .1
    higher even with two standard errors added. The rule is ours.
    """
    accuracy = history.values("eval/accuracy")
    if len(accuracy) < FEWEST:
        return Missing.NOT_ENOUGH
    fall, start = _fall(history, accuracy)
    rose, gained = _gap(history, accuracy)
    numbers = {"start": start, "now": mean_of(accuracy[-FIRST:]), "rose": rose}
    if fall >= FALL:
        return Reading(True, fall, FALL, Severity.SEVERE, numbers, "falls")
    if rose >= GAP_RISE and gained <= GAP_ROOM:
        numbers["start"] = mean_of(accuracy[:FIRST])
        return Reading(True, fall, FALL, Severity.WARNING, numbers, "stays")
    return Reading(False, fall, FALL)


def _fall(history: History, accuracy: Float64Array) -> tuple[float, float]:
    """The largest sure fall and where its line begins; (0, NaN) without one."""
    best, start = 0.0, math.nan
    for count in range(FEWEST, min(LONGEST, len(accuracy)) + 1):
        part = accuracy[-count:]
        line = fitted_line(part)
        fall = -line.slope * (count - 1)
        if fall <= max(best, FALL) or line.error <= 0 or student_p(line.slope / line.error, count - 2) >= P:
            continue
        first = int(history.steps("eval/accuracy")[-count])
        place = int(np.searchsorted(history.steps("reward"), first, side="right"))
        trend = mann_kendall(history.values("reward")[place:][-LARGEST_TREND:])
        if trend.z > 0 and trend.p < P:
            best, start = fall, mean_of(part) + fall / 2
    return best, start


def _gap(history: History, accuracy: Float64Array) -> tuple[float, float]:
    """How many spreads the reward rose, and the most that held-out accuracy may have gained."""
    rewards, spreads = history.values("reward"), history.values("reward_std")
    spread = mean_of(spreads[:20]) if spreads.size else 0.0
    if len(rewards) < 40 or spread <= 0 or len(accuracy) < 2 * FIRST:
        return 0.0, math.inf
    rose = (mean_of(rewards[-20:]) - mean_of(rewards[:20])) / spread
    error = math.sqrt(mean_of(np.diff(accuracy) ** 2) / 2) * math.sqrt(2 / FIRST)
    return rose, mean_of(accuracy[-FIRST:]) - mean_of(accuracy[:FIRST]) + 2 * error


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says from where to where."""
    start, now = number(reading.numbers["start"]), number(reading.numbers["now"])
    if reading.subject == "falls":
        headline = "The reward rises, but on unseen prompts the model gets worse."
        moved = f"fell from {start} to {now} (the alarm is at a fall of {FALL})"
    else:
        headline = "The reward has risen a lot, but on unseen prompts the model is no better."
        moved = f"was {start} at the start and is {now} now"
    detail = (
        f"The share of right answers on prompts that are never trained on {moved}, while the reward in training went "
        "up. The model has found a way to earn reward without solving the task."
    )
    action = Action(
        "Read the best-paid answers of the last steps to see what is paid for, change the reward, and go back to a "
        "snapshot from before this step."
    )
    cause = "The reward can be had without a right answer, or the prompts are learned by heart."
    return Words(headline, detail, action, (cause,))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """The best-paid completions that are not right."""
    return completions_by(steps, lambda one: None if one.reward is None or one.correct else one.reward)


DETECTOR = Detector(
    name="held_out_falls",
    title="Reward without skill",
    needs=("reward", "eval/accuracy"),
    check=check,
    words=words,
    evidence=evidence,
    roots=("length_pays", "length_grows", "auxiliary_reward", "wrong_mask", "kl_runaway", "reward_falls"),
    hidden_when_solved=True,
    measure="fall of held-out accuracy",
)
