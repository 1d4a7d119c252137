"""A7: a number of the training is infinite or not a number."""

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words

FEWEST = 10
WATCHED = ("loss", "policy_loss", "grad_norm", "kl", "entropy", "reward", "nan_count", "inf_count")
_PLAIN = {"loss": "loss", "policy_loss": "loss", "grad_norm": "gradient", "kl": "KL", "entropy": "entropy"}


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """The first of loss, gradient norm, KL, entropy, reward that is infinite, or NaN after an unbroken record.

    A NaN counts only when the series had a finite value at each of at least 10 steps so far: importers pad what was
    not recorded with NaN, and that is no broken gradient. A counter of NaN or inf tensors above 0 counts as
    well, and so does a trainer that stopped for it. Source: facts of the project, A7.
    """
    for name, subject in (("broken/loss", "loss"), ("broken/gradient", "gradient")):
        if history.is_fresh(name):
            return Reading(True, 1.0, 0.0, Severity.SEVERE, subject=subject)
    for name in ("nan_count", "inf_count"):
        if history.is_fresh(name) and float(history.tail(name, 1)[0]) > 0:
            return Reading(True, float(history.tail(name, 1)[0]), 0.0, Severity.SEVERE, subject="gradient")
    for name in history.not_finite:
        if name in WATCHED and history.count(name) >= max(FEWEST, history.rows - 1):
            return Reading(True, 1.0, 0.0, Severity.SEVERE, subject=_PLAIN.get(name, name))
    return Reading(False, 0.0, 0.0)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Names the number."""
    headline = f"The {reading.subject} is no longer a number."
    detail = (
        f"The {reading.subject} became infinite or undefined at this step. From here on the model's weights cannot be "
        "trusted: every number computed from them may be broken too."
    )
    cause = (
        "An update was so large that a number overflowed; a high learning rate or half precision are the usual reasons."
    )
    return Words(headline, detail, lower_learning_rate(facts, go_back=True), (cause,))


DETECTOR = Detector(
    name="not_finite",
    title="Broken numbers",
    needs=("rows",),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    measure="numbers that are not finite",
)
