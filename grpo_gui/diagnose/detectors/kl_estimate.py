"""A2: the KL is not 0 where nothing has changed yet, or is negative."""

from grpo_gui.diagnose.actions import report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

AT_START = 1e-4
AT_START_HALF = 1e-2
NEGATIVE = -1e-6


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """KL of the first samples against the reference > 1e-4 (1e-2 in bf16), or the K3 estimate < -1e-6 ever.

    The first holds only at step 1, where the reference equals the policy; it is judged once. K3 cannot be negative
    (exp(d) - d - 1), so that a negative KL is another estimate or a wrong one; `kl` of programs that use K1 is
    recognised by its being negative from the start and is left alone. Source: facts of the project, A2.
    """
    if history.step == 1 and history.is_fresh("samples/reference_kl"):
        gap = float(history.tail("samples/reference_kl", 1)[0])
        limit = AT_START_HALF if facts.bf16 else AT_START
        return Reading(gap > limit, gap, limit, Severity.SEVERE)
    newest = float(history.tail("kl", 1)[0])
    if newest >= NEGATIVE:
        return Reading(False, newest, NEGATIVE)
    if not history.has("kl/max"):  # not ours, so that it may well be another estimate
        return Missing.NOT_RECORDED
    return Reading(True, newest, NEGATIVE, Severity.SEVERE)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says which of the two."""
    if reading.value < 0:
        headline = "The distance to the starting model is negative, which cannot be."
        what = "is computed as a sum of terms that are never below 0"
    else:
        headline = "The model differs from its starting point before the first update."
        what = "must be 0 as long as the model has not been changed"
    limit = number(reading.threshold)
    detail = f"KL measures that distance and {what}. It is {number(reading.value)}; the limit is {limit}."
    cause = "The model that KL compares with is not the one the run began with, or is asked in another way."
    return Words(headline, detail, report_a_bug("the KL is wrong."), (cause,))


DETECTOR = Detector(
    name="kl_estimate",
    title="KL is wrong",
    needs=("kl",),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    measure="KL at the start, or its smallest value",
)
