"""B14: the run has not learned anything so far."""

import numpy as np

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import Float64Array, History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import fitted_line, mean_of
from grpo_gui.diagnose.text import number, steps

FEWEST = 120
BLOCK = 10
SURE = 2.6  # standard errors, about 99 %
WORTH = 0.1  # of the usual spread of the rewards in a step


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """The reward has not risen over the whole run of at least 120 steps, by more than a tenth of its spread.

    The largest rise that the data allow is the slope of the block means (blocks of 10) plus 2.6 standard errors,
    times the steps. A run that has learned and stands still since is no finding: the status says so. Source: facts of
    the project, B14.
    """
    count = history.count("reward")
    if count < FEWEST:
        return Missing.NOT_ENOUGH
    if count % BLOCK:
        old = history.tail("measure/no_progress", 1)
        return Reading(False, float(old[0]), WORTH) if old.size and old[0] >= WORTH else _measured(history, facts)
    return _measured(history, facts)


def _measured(history: History, facts: RunFacts) -> Reading:
    rewards = history.values("reward")
    blocks = block_means(rewards)
    line = fitted_line(blocks)
    spread = mean_of(history.tail("reward_std", FEWEST))
    most = (line.slope + SURE * line.error) * (len(blocks) - 1)
    share = most / spread if spread > 0 else 0.0
    ceiling = facts.reward_ceiling
    done = ceiling is not None and mean_of(blocks[-3:]) >= 0.9 * ceiling
    return Reading(
        share < WORTH and not done,
        share,
        WORTH,
        Severity.WARNING,
        {"steps": float(len(rewards)), "start": float(blocks[0]), "now": float(blocks[-1])},
    )


def block_means(values: Float64Array) -> Float64Array:
    """Means of blocks of 10, the oldest rest left out."""
    whole = len(values) // BLOCK * BLOCK
    return np.asarray(values[len(values) - whole :].reshape(-1, BLOCK).mean(axis=1))


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says from where to where."""
    headline = f"Nothing has been learned in {steps(reading.numbers['steps'])}."
    detail = (
        f"The reward was {number(reading.numbers['start'])} at the start and is {number(reading.numbers['now'])} now. "
        "The largest rise that chance could hide would still be too small to matter, less than a tenth of the usual "
        "difference between answers."
    )
    rate = facts.learning_rate
    if rate is None:
        action = Action("Try a learning rate three times as high, or easier prompts.", setting="learning_rate")
    else:
        action = Action(
            f"Try a learning rate of {number(3 * rate)} instead of {number(rate)}, or easier prompts.",
            setting="learning_rate",
            value=float(f"{3 * rate:.3g}"),
            live=True,
        )
    return Words(
        headline,
        detail,
        action,
        ("The updates are too small, or the reward does not reward what the prompts ask for.",),
    )


DETECTOR = Detector(
    name="no_progress",
    title="No progress",
    needs=("reward", "reward_std"),
    check=check,
    words=words,
    roots=(
        "reward_falls",
        "dead_groups",
        "wrong_mask",
        "constant_reward",
        "silent_reward",
        "weights_stuck",
        "copies",
        "truncation",
        "kl_runaway",
        "length_pays",
        "entropy_falls",
        "clip_saturation",
        "held_out_falls",
    ),
    hidden_when_solved=True,
    measure="largest rise the data allow, in spreads of the reward",
)
