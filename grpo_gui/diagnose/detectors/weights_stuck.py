"""A5: an update changes nothing, or nearly everything."""

from grpo_gui.diagnose.actions import lower_learning_rate, report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import percent

STEPS = 3
LARGEST = 0.1


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Relative change of the weights 0 for 3 steps with learning rate > 0 and gradient > 0, or > .1 in one step.

    `check/weights_change` is measured on a fixed part of the weights. Source: facts of the project, A5.
    """
    changes = history.tail("check/weights_change", STEPS)
    newest = float(changes[-1])
    if newest > LARGEST:
        return Reading(True, newest, LARGEST, Severity.SEVERE)
    rates, norms = history.tail("learning_rate", STEPS), history.tail("grad_norm", STEPS)
    if len(changes) == STEPS and len(rates) == STEPS and len(norms) == STEPS:
        stuck = not changes.any() and bool((rates > 0).all()) and bool((norms > 0).all())
        return Reading(stuck, newest, 0.0 if stuck else LARGEST, Severity.SEVERE)
    return Reading(False, newest, LARGEST)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says which of the two."""
    if reading.value > LARGEST:
        headline = f"One step changed the model's weights by {percent(reading.value)}."
        detail = (
            f"A healthy step changes less than 1 %; the alarm is at {percent(LARGEST)}. Little of the model is left."
        )
        return Words(
            headline, detail, lower_learning_rate(facts, go_back=True), ("The learning rate is far too high.",)
        )
    headline = "The model is not being changed."
    detail = (
        f"For {STEPS} steps its weights, the numbers that training changes, stayed exactly as they were, although "
        "there was something to learn from."
    )
    cause = "The updates go to another copy of the model than the one that answers, or its weights are frozen."
    return Words(headline, detail, report_a_bug("the updates do not reach the model."), (cause,))


DETECTOR = Detector(
    name="weights_stuck",
    title="Weights do not move",
    needs=("check/weights_change", "learning_rate", "grad_norm"),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    roots=("kl_runaway",),
    measure="relative change of the weights in a step",
)
