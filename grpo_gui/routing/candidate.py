"""Where the candidate network stands, in numbers and as a sentence; free of torch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grpo_gui.router.groups import AUDIT_ONE_IN, LEAST_DECISIONS
from grpo_gui.router.state import LEARN, LOCKED

if TYPE_CHECKING:
    from grpo_gui.router.learner import Verdict

AWAITED = "It is made again from what was learned before, which takes a moment."
LEAST_GAIN = 0.005  # of the interval's lower end: taking over for less is not worth an entry in the log each time


@dataclass(frozen=True, slots=True)
class CandidateState:
    """Where the network stands; `verdict` None before it has learned anything, `run_id` None before its first step.

    `features` is how it sees queries: "hashed n-grams", or the folder of a sentence embedding model.
    """

    steps: int
    verdict: "Verdict | None"
    run_id: int | None
    sentence: str
    features: str


def candidate_sentence(steps: int, verdict: "Verdict | None", mode: str, audited: int) -> str:
    """What a person should know of the candidate. `audited`: rated decisions so far that judge it."""
    if mode == LOCKED:
        return "Nothing is learned while the router is locked."
    if steps == 0 or verdict is None:
        return "It begins to learn with the first ratings of a query that differ."
    if audited < LEAST_DECISIONS:
        return (
            f"One decision in {AUDIT_ONE_IN} never trains it and judges it instead; {audited} of the "
            f"{LEAST_DECISIONS} that are needed are rated."
        )
    if verdict.is_better:
        after = (
            f" it takes over by itself from {LEAST_GAIN:+g} on." if mode == LEARN else " it takes over in learn only."
        )
        return f"It is better for certain;{after}"
    if verdict.ratings_needed is None:
        return "It is not better than the active policy so far."
    return f"It seems better, but not for certain; about {verdict.ratings_needed} more ratings would tell."
