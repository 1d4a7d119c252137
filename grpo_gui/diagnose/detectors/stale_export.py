"""A6: what was exported is not the model that was trained."""

from grpo_gui.diagnose.actions import report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

LOGITS = 1e-5


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Exported weights equal those of the export before although updates ran, or a reload differs by > 1e-5 in logits.

    `snapshot/weights_change` is the relative change since the last export, `snapshot/reload_error` the largest
    difference of the logits after reloading. Source: facts of the project, A6.
    """
    change = float(history.tail("snapshot/weights_change", 1)[0])
    if change == 0.0:
        return Reading(True, 0.0, 0.0, Severity.SEVERE, subject="same")
    error = history.tail("snapshot/reload_error", 1)
    if error.size and float(error[0]) > LOGITS:
        return Reading(True, float(error[0]), LOGITS, Severity.SEVERE, subject="reload")
    return Reading(False, change, 0.0)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says which of the two."""
    if reading.subject == "same":
        headline = "The exported model is the same as the last one, although it was trained in between."
        detail = "Its weights are equal to the last bit, so the export did not take the weights that were trained."
    else:
        headline = "The exported model gives other answers than the one in training."
        detail = f"Loaded again, its outputs differ by up to {number(reading.value)} (limit {LOGITS})."
    return Words(
        headline, detail, report_a_bug("exports are not what was trained."), ("The export wrote other weights.",)
    )


DETECTOR = Detector(
    name="stale_export",
    title="Export is stale",
    needs=("snapshot/weights_change",),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    measure="relative change of the weights since the last export",
)
