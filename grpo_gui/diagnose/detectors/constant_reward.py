"""A8: a reward source gives everybody the same."""

from collections.abc import Iterator, Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, groups_where, is_dead
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

STEPS = 10
TINY = 1e-12


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """A source that has given one and the same value in every step so far, for at least 10 steps.

    A source that is 0 while no answer has been right yet is not constant but never met: that is for the dead groups.
    Source: facts of the project, A8.
    """
    if history.count("reward") < STEPS:
        return Missing.NOT_ENOUGH
    for name, value in _constant(history):
        if value != 0.0 or not _never_right(history):
            return Reading(True, 0.0, TINY, Severity.SEVERE, {"value": value}, name)
    spread = history.tail("reward_std", 1)
    return Reading(False, float(spread[0]) if spread.size else 1.0, TINY)


def _constant(history: History) -> Iterator[tuple[str, float]]:
    """(source, value) of the sources that never varied; of the whole reward where sources are not recorded."""
    sources = history.names_between("rewards/", "/std")
    for source in sources:
        if _never_varied(history, f"rewards/{source}/std", f"rewards/{source}/mean"):
            yield source, float(history.tail(f"rewards/{source}/mean", 1)[0])
    if not sources and _never_varied(history, "reward_std", "reward"):
        yield "reward", float(history.tail("reward", 1)[0])


def _never_varied(history: History, spread: str, mean: str) -> bool:
    newest = history.tail(spread, STEPS)
    if len(newest) < STEPS or float(newest.max()) > TINY:
        return False
    means = history.values(mean)
    return float(history.values(spread).max()) <= TINY and float(means.max() - means.min()) <= TINY


def _never_right(history: History) -> bool:
    right = history.values("samples/right")
    return bool(right.size) and float(right.max()) == 0.0


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says which source gives what."""
    headline = f"The reward “{reading.subject}” is {number(reading.numbers['value'])} for every answer."
    detail = (
        f"Since the run began, every answer has got this value, for at least {STEPS} steps. The model learns from "
        "answers that earn more than others; a reward that is the same for all teaches nothing."
    )
    only = len(facts.sources) <= 1
    action = Action(
        "Stop the run and correct the reward; try it on a right and on a wrong answer first."
        if only
        else f"Correct the reward “{reading.subject}” or leave it out; try it on a right and on a wrong answer first."
    )
    return Words(
        headline, detail, action, ("The reward function does not look at the answer, or looks for the wrong thing.",)
    )


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """Groups with equal rewards."""
    return groups_where(steps, is_dead)


DETECTOR = Detector(
    name="constant_reward",
    title="Reward is always the same",
    needs=("reward", "reward_std"),
    check=check,
    words=words,
    evidence=evidence,
    hold=3,
    measure="spread of the rewards in a step",
)
