"""D25: people and program agree less and less."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import number

BLOCK = 5  # audit values a mean is taken of
FALL = 0.2


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Kendall's tau of people's and program's order on the audit sample has fallen by > .2 since its best.

    `ratings/audit_tau` holds one tau per audited group; means of 5 are compared. Source: facts of the project, D25.
    """
    taus = history.values("ratings/audit_tau")
    if len(taus) < 2 * BLOCK:
        return Missing.NOT_ENOUGH
    means = taus[: len(taus) // BLOCK * BLOCK].reshape(-1, BLOCK).mean(axis=1)
    best, now = float(means[:-1].max()), mean_of(taus[-BLOCK:])
    return Reading(best - now > FALL, best - now, FALL, Severity.SEVERE, {"best": best, "now": now})


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says from where to where."""
    headline = "The reward no longer prefers the answers that people prefer."
    detail = (
        "Agreement of their orders (Kendall's tau: 1 is the same, 0 is unrelated) fell from "
        f"{number(reading.numbers['best'])} to {number(reading.numbers['now'])} (the alarm is at a fall of {FALL})."
    )
    action = Action("Read the answers on which reward and people disagree most, and change the reward.")
    return Words(headline, detail, action, ("The model has found answers that please the program but not people.",))


DETECTOR = Detector(
    name="human_disagrees",
    title="People disagree",
    needs=("ratings/audit_tau",),
    check=check,
    words=words,
    hold=1,
    roots=("length_pays",),
    measure="fall of the agreement since its best",
)
