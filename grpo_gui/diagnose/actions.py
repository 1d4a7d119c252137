"""Proposals that several findings share."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Action
from grpo_gui.diagnose.text import number

_FAR_TOO_HIGH = 1e-3  # for the built-in model; ten times its default


def lower_learning_rate(facts: RunFacts, *, go_back: bool = False) -> Action:
    """A third of the learning rate, a tenth where it is far too high; with `go_back` from an earlier snapshot."""
    begin = "Go back to a snapshot from before this step and train on with" if go_back else "Train on with"
    rate = facts.learning_rate
    if rate is None:
        return Action(f"{begin} a third of the learning rate.", setting="learning_rate")
    lower = float(f"{rate / (10 if rate >= _FAR_TOO_HIGH else 3):.1g}")
    return Action(
        f"{begin} a learning rate of {number(lower)} instead of {number(rate)}.", "learning_rate", lower, live=True
    )


def report_a_bug(what: str) -> Action:
    """For broken invariants: nothing to tune, the program that trains is wrong."""
    return Action(f"Stop this run: {what} Its results cannot be trusted.")
