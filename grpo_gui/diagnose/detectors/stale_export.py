"""A6: what was exported is not the model that was trained."""

from grpo_gui.diagnose.actions import report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

LOGITS = 1e-5


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Exported weights equal those of the export before although updates ran, or a reload differs by > 1e-5 in logits.

    `snapshot/weights_change` is the relative change since the last export, missing for the first and where nothing was
    trained in between; `snapshot/reload_error` the largest difference of the logits (as log-probabilities) after
    reloading, missing for large models. Source: facts of the project, A6.
    """
    change, error = _newest(history, "snapshot/weights_change"), _newest(history, "snapshot/reload_error")
    if change == 0.0:
        return Reading(True, 0.0, 0.0, Severity.SEVERE, subject="same")
    if error is not None and error > LOGITS:
        return Reading(True, error, LOGITS, Severity.SEVERE, subject="reload")
    if change is None and error is None:
        return Missing.NOT_RECORDED
    return Reading(False, 0.0 if change is None else change, 0.0)


def _newest(history: History, name: str) -> float | None:
    return float(history.tail(name, 1)[0]) if history.is_fresh(name) else None


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says which of the two."""
    if reading.subject == "same":
        headline = "The exported model is the same as the last one, although it was trained in between."
        detail = "Its weights are equal to the last bit, so the export did not take the weights that were trained."
    else:
        headline = "The exported model gives other answers than the one in training."
        detail = (
            f"Loaded again, what it computes for a word differs by up to {number(reading.value)} (the limit is "
            f"{number(LOGITS)})."
        )
    return Words(
        headline,
        detail,
        report_a_bug("exports are not what was trained."),
        ("The export wrote an older copy of the weights.",),
    )


DETECTOR = Detector(
    name="stale_export",
    title="Export is stale",
    needs=("snapshot/size_gb",),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    measure="relative change of the weights since the last export",
)
