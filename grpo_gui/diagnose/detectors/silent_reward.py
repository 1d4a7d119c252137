"""A8: a reward source never has an opinion."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import steps

STEPS = 10
ALL = 1.0


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """A source that has abstained from every completion of every step, for at least 10 steps.

    People's ratings arrive late, so that a source of ratings may be silent; it is left out by its name, `human`.
    Source: facts of the project, A8.
    """
    sources = history.names_between("samples/abstains/", "")
    if not sources:
        return Missing.NOT_RECORDED
    if history.rows < STEPS:
        return Missing.NOT_ENOUGH
    most = 0.0
    for source in sources:
        if source == "human":
            continue
        shares = history.values(f"samples/abstains/{source}")
        if float(shares[-1]) < ALL:
            continue
        if len(shares) >= STEPS and float(shares.min()) >= ALL:
            return Reading(True, ALL, ALL, Severity.SEVERE, {"steps": float(len(shares))}, source)
        most = max(most, mean_of(shares[-STEPS:]))
    return Reading(False, most, ALL)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Names the source."""
    headline = f"The reward “{reading.subject}” has not judged a single answer."
    detail = (
        f"In {steps(reading.numbers['steps'])} it had no opinion on any answer, so it has no part in what the model "
        "learns."
    )
    action = Action(
        f"Look why “{reading.subject}” gives no value (a missing answer column is the usual reason), or leave it out."
    )
    return Words(headline, detail, action, ("What the reward needs is not in the data.",))


DETECTOR = Detector(
    name="silent_reward",
    title="Reward without opinion",
    needs=("rows",),
    check=check,
    words=words,
    hold=3,
    measure="share of answers without an opinion of the source",
)
