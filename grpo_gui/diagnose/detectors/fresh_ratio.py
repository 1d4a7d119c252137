"""A1: the first update does not meet the policy that sampled."""

from grpo_gui.diagnose.actions import report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

EXACT = 1e-3
HALF = 2e-2


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Largest |ratio - 1| at the first inner update of fresh samples > 1e-3 (fp32) or > 2e-2 (bf16).

    Late ratings, which train on older samples, have no part in the measure. Source: facts of the project, A1.
    """
    gap = float(history.tail("check/first_ratio", 1)[0])
    threshold = HALF if facts.bf16 else EXACT
    return Reading(gap > threshold, gap, threshold, Severity.SEVERE)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says what should be and what is."""
    headline = "The program does not recognise its own samples."
    detail = (
        "Right after sampling, the model must give each word the probability with which it was sampled: the "
        f"ratio of the two is 1. Here it is off by up to {number(reading.value)}; the limit is "
        f"{number(reading.threshold)}."
    )
    cause = (
        "Sampling and training compute the probabilities differently, for example with another temperature or with "
        "rounder numbers."
    )
    return Words(headline, detail, report_a_bug("sampling and training disagree."), (cause,))


DETECTOR = Detector(
    name="fresh_ratio",
    title="Sampling and training disagree",
    needs=("check/first_ratio",),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    measure="largest distance of the ratio from 1 at the first update",
)
