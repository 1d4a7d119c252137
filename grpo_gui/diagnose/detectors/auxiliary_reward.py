"""D24: a side reward alone decides what is learned."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import percent

STEPS = 20
THRESHOLD = 0.9


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """One auxiliary source explains > .9 of the variance of the reward inside groups, mean of 20 steps.

    The share is the squared correlation of the weighted source with the whole reward, both centred in their group.
    Auxiliary are the sources that do not compare with the answer; a run in which no source does is left alone. While
    the judging source is met by all (its own share is unknown), nothing is said. Source: facts of the project, D24.
    """
    if not facts.auxiliary_sources:
        return Missing.NOT_RECORDED
    largest, subject = 0.0, ""
    for name in facts.auxiliary_sources:
        values = history.tail(f"samples/explains/{name}", STEPS)
        if len(values) < STEPS:
            return Missing.NOT_ENOUGH
        if mean_of(values) > largest:
            largest, subject = mean_of(values), name
    return Reading(largest > THRESHOLD, largest, THRESHOLD, subject=subject)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Names the source."""
    headline = f"“{reading.subject}” alone decides what is learned."
    detail = (
        f"{percent(reading.value)} of the differences in reward inside the groups come from “{reading.subject}”, which "
        f"does not look at whether the answer is right (the alarm is at {percent(reading.threshold)})."
    )
    action = Action(f"Lower the weight of “{reading.subject}”, so that right answers earn more than nice ones.")
    return Words(headline, detail, action, ("Its weight is too large, or right answers are too rare to matter.",))


DETECTOR = Detector(
    name="auxiliary_reward",
    title="Side reward decides",
    needs=("reward",),
    check=check,
    words=words,
    roots=("reward_falls", "length_pays", "wrong_mask"),
    hidden_when_solved=True,
    measure="share of the reward's differences that the source explains",
)
