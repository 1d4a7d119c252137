"""C20: answers are cut off before they end."""

import math
from collections.abc import Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_where
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import mean_of, welch_p
from grpo_gui.diagnose.text import number, percent

STEPS = 20
FEWEST = 10
THRESHOLD = 0.1
SEVERE = 0.5
P = 0.01


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Mean truncated share of the last 20 steps (at least 10) >= .10.

    Where samples are there, Welch's t tells whether truncated answers earn less. Source: facts of the project, C20.
    """
    values = history.tail("completions/clipped_ratio", STEPS)
    if len(values) < FEWEST:
        return Missing.NOT_ENOUGH
    mean = mean_of(values)
    if mean < THRESHOLD:
        return Reading(False, mean, THRESHOLD)
    severity = Severity.SEVERE if mean >= SEVERE else Severity.WARNING
    return Reading(True, mean, THRESHOLD, severity, _rewards(history))


def _rewards(history: History) -> dict[str, float]:
    cut, ended = _moments(history, "truncated"), _moments(history, "ended")
    if not cut[2] or not ended[2]:
        return {}
    return {"cut": cut[0], "ended": ended[0], "p": welch_p(cut, ended)}


def _moments(history: History, which: str) -> tuple[float, float, int]:
    """Mean, variance and count of the rewards of truncated or ended answers over the last steps that had truncated."""
    count, total, squares = (
        float(history.tail(f"samples/reward_{which}_{what}", STEPS).sum()) for what in ("count", "sum", "squares")
    )
    if count < 1:
        return math.nan, math.nan, 0
    mean = total / count
    return mean, max(squares - count * mean * mean, 0.0) / max(count - 1, 1.0), int(count)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Proposes a larger length, unless long answers are what is rewarded."""
    headline = f"{percent(reading.value)} of the answers are cut off before they end."
    limit = facts.max_completion_length
    at = (
        "the length limit" if limit is None else f"the limit of {limit} tokens, pieces of words (max_completion_length)"
    )
    rewards = ""
    if reading.numbers.get("p", 1.0) < P:
        rewards = (
            f" Cut-off answers earn {number(reading.numbers['cut'])} on average, the others "
            f"{number(reading.numbers['ended'])}."
        )
    detail = (
        f"They reach {at}, so the end is missing and what was good about them is judged as wrong (mean of {STEPS} "
        f"steps; the alarm is at {percent(reading.threshold)}).{rewards}"
    )
    if limit is None:
        action = Action("Allow twice as many tokens an answer.", setting="max_completion_length")
    else:
        action = Action(
            f"Allow {2 * limit} tokens an answer instead of {limit}.", "max_completion_length", float(2 * limit)
        )
    return Words(
        headline, detail, action, ("The limit is too low for this task, or the model no longer ends its answers.",)
    )


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """Truncated completions."""
    return completions_where(steps, lambda one: one.truncated)


DETECTOR = Detector(
    name="truncation",
    title="Answers cut off",
    needs=("completions/clipped_ratio",),
    check=check,
    words=words,
    evidence=evidence,
    roots=("reward_falls", "length_grows", "not_finite", "wrong_mask", "kl_runaway", "length_pays"),
    measure="share of answers cut off, mean of 20 steps",
)
