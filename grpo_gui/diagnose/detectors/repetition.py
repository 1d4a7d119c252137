"""C21: answers repeat themselves."""

from collections.abc import Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_where
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.sample_values import is_repetitive
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import percent

STEPS = 10
THRESHOLD = 0.2


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """More than 20 % of the answers say the same again and again (mean of 10 steps).

    That is: zlib ratio > 4, or distinct-3 < .3. Source: facts of the project, C21.
    """
    values = history.tail("samples/repetitive", STEPS)
    if len(values) < STEPS:
        return Missing.NOT_ENOUGH
    mean = mean_of(values)
    return Reading(mean > THRESHOLD, mean, THRESHOLD)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says how many."""
    headline = f"{percent(reading.value)} of the answers say the same thing again and again."
    detail = (
        f"They repeat words or runs of words instead of ending (mean of {STEPS} steps; the alarm is at "
        f"{percent(THRESHOLD)})."
    )
    action = Action(
        "Go back to a snapshot from before this step and raise beta, the weight of staying close to the "
        "starting model.",
        setting="beta",
    )
    return Words(headline, detail, action, ("The reward does not punish it, or the model has been changed too fast.",))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """Completions that repeat themselves."""
    return completions_where(steps, is_repetitive)


DETECTOR = Detector(
    name="repetition",
    title="Repeating itself",
    needs=("samples/repetitive",),
    check=check,
    words=words,
    evidence=evidence,
    roots=("reward_falls", "wrong_mask", "kl_runaway", "length_pays", "truncation", "entropy_falls"),
    measure="share of answers that repeat themselves, mean of 10 steps",
)
