"""D: the reward rises while the held-out result falls. Not in the facts' list; it needs no samples."""

import math

import numpy as np

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import Float64Array, History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

MEAN_OF = 3
FEWEST = 6
DROP = 0.1
DEVIATIONS = 3.0


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Held-out accuracy, mean of the last 3, is > .1 and > 3 standard errors below its best; the reward is not.

    The error of a mean of 3 comes from the differences of neighbours (von Neumann 1941). The reward of training,
    mean over the steps since the best, must be at least what it was there.
    """
    accuracy = history.values("eval/accuracy")
    if len(accuracy) < FEWEST:
        return Missing.NOT_ENOUGH
    means = np.convolve(accuracy, np.ones(MEAN_OF) / MEAN_OF, mode="valid")
    best = int(means.argmax())
    drop = float(means[best] - means[-1])
    error = math.sqrt(float((np.diff(accuracy) ** 2).mean()) / 2) * math.sqrt(2 / MEAN_OF)
    limit = max(DROP, DEVIATIONS * error)
    step_of_best = int(history.steps("eval/accuracy")[best + MEAN_OF - 1])
    alarm = drop > limit and _reward_kept(history, step_of_best)
    return Reading(
        alarm,
        drop,
        limit,
        Severity.SEVERE,
        {"best": float(means[best]), "now": float(means[-1]), "step": float(step_of_best)},
    )


def _reward_kept(history: History, step: int) -> bool:
    place = int(np.searchsorted(history.steps("reward"), step))
    rewards = history.values("reward")
    before, since = rewards[max(0, place - 20) : place + 1], rewards[place + 1 :][-20:]
    return bool(before.size and since.size) and _mean(since) >= _mean(before)


def _mean(values: Float64Array) -> float:
    return float(values.mean())


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says from where to where."""
    headline = "The reward rises, but on unseen prompts the model gets worse."
    detail = (
        f"On prompts that are never trained on it got {number(reading.numbers['best'])} right at step "
        f"{reading.numbers['step']:.0f} and gets {number(reading.numbers['now'])} now (the alarm is at a loss of "
        f"{number(reading.threshold)}). It has found a way to earn reward without solving the task."
    )
    action = Action(
        f"Go back to step {reading.numbers['step']:.0f} and change the reward: read the best-paid answers of the last "
        "steps to see what is paid for."
    )
    return Words(
        headline,
        detail,
        action,
        ("The reward can be had without a right answer, or the prompts are learned by heart.",),
    )


DETECTOR = Detector(
    name="held_out_falls",
    title="Reward without skill",
    needs=("reward", "eval/accuracy"),
    check=check,
    words=words,
    roots=("length_pays", "auxiliary_reward", "wrong_mask", "kl_runaway"),
    measure="loss of held-out accuracy since its best",
)
