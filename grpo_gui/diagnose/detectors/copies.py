"""B10: the answers to one prompt are copies of each other."""

from collections.abc import Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, groups_where
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import number, percent

STEPS = 20
FIRST = 5
FEWEST = 10
THRESHOLD = 0.5
FROM_THE_START = 0.6
UNSOLVED = 0.05  # share of groups that are not all right, below which there is too little to judge by
USUAL_TEMPERATURE = 1.0
LOW_TEMPERATURE = 0.7
BETTER_THAN_HELD_OUT = 0.15


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """All G completions alike in >= .5 of the groups (mean of 20 steps), from the start or where they are wrong.

    From the start: >= .6 in the first 5 steps as well, at a temperature below .7, or while more is right in training
    than on held-out prompts (by .15), which are sampled at temperature 1. Wrong: of the groups that are not all
    right, half are copies, and the task is not solved. The rule of the facts, B10 (distinct completions / G < .5),
    also holds where a task is solved, since then there is one right answer, and where a question has two possible
    answers; hence these.
    """
    copies = history.tail("samples/copies", STEPS)
    if len(copies) < FEWEST:
        return Missing.NOT_ENOUGH
    everywhere = mean_of(copies)
    if everywhere < THRESHOLD:
        return Reading(False, everywhere, THRESHOLD)
    alarm = _from_the_start(history, facts) or (_wrong_ones(history) >= THRESHOLD and not history.mastered)
    distinct = mean_of(history.tail("samples/distinct", STEPS))
    return Reading(alarm, everywhere, THRESHOLD, numbers={"distinct": distinct})


def _from_the_start(history: History, facts: RunFacts) -> bool:
    if mean_of(history.head("samples/copies", FIRST)) < FROM_THE_START:
        return False
    if facts.temperature is not None and facts.temperature < LOW_TEMPERATURE:
        return True
    held_out, right = history.tail("eval/accuracy", 1), history.tail("samples/right", STEPS)
    return bool(held_out.size and right.size) and mean_of(right) > float(held_out[0]) + BETTER_THAN_HELD_OUT


def _wrong_ones(history: History) -> float:
    """Share of copies among the groups that are not all right."""
    unsolved = mean_of(history.tail("samples/groups_not_right", STEPS))
    return mean_of(history.tail("samples/dead_copies", STEPS)) / unsolved if unsolved >= UNSOLVED else 0.0


def words(reading: Reading, facts: RunFacts) -> Words:
    """Points at the temperature where it is below 1."""
    temperature = facts.temperature
    group = facts.num_generations
    low = temperature is not None and temperature < USUAL_TEMPERATURE
    each = "" if group is None else f" On average {number(reading.numbers['distinct'] * group)} of {group} differ."
    headline = f"In {percent(reading.value)} of the groups all answers are the same."
    detail = (
        "The model learns from the differences between its answers to one prompt, and copies do not differ."
        f"{each} The alarm is at {percent(reading.threshold)} (mean of {STEPS} steps)."
    )
    if low:
        action = Action(
            f"Raise the temperature from {number(temperature or 0.0)} to {number(USUAL_TEMPERATURE)}: the model then "
            "tries different answers.",
            setting="temperature",
            value=USUAL_TEMPERATURE,
            live=True,
        )
        cause = f"The temperature is {number(temperature or 0.0)}: the model nearly always takes its likeliest answer."
    else:
        action = Action(
            "Go back to an earlier snapshot and train on with a lower learning rate and a higher beta (the weight of "
            "staying close to the starting model), so that it keeps some variety.",
            setting="beta",
        )
        cause = "The model has become so sure of itself that it gives one answer only."
    return Words(headline, detail, action, (cause,))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """Groups of copies that are not right."""
    return groups_where(
        steps, lambda group: len({one.text for one in group}) == 1 and not all(one.correct for one in group)
    )


DETECTOR = Detector(
    name="copies",
    title="Copies instead of answers",
    needs=("samples/copies", "samples/groups_not_right", "samples/dead_copies", "samples/distinct"),
    check=check,
    words=words,
    evidence=evidence,
    roots=("reward_falls", "wrong_mask", "kl_runaway", "length_pays", "truncation", "constant_reward"),
    measure="share of groups whose answers are all the same, mean of 20 steps",
)
