"""What the store hands out about the router."""

from dataclasses import dataclass

from grpo_gui.router_events import RouterAnswered, RouterDecided, RouterEvent, RouterRated


@dataclass(frozen=True, slots=True)
class RouterLogEntry:
    """One entry of the log; ids rise in the order of happening."""

    id: int
    time_s: float
    event: RouterEvent


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision with everything that followed: answers as they came, groups of ratings in their order."""

    time_s: float
    decided: RouterDecided
    answers: tuple[RouterAnswered, ...]
    ratings: tuple[RouterRated, ...]


@dataclass(frozen=True, slots=True)
class DecisionQuery:
    """Which decisions to show: all conditions hold. `search` is text of the query or of an answer, in any case."""

    search: str = ""
    query_class: str | None = None
    model: str | None = None  # was asked
    unrated: bool = False  # nothing is rated yet


@dataclass(frozen=True, slots=True)
class WeightPoint:
    """A weight after the rating of a decision."""

    decision: int
    weight: float
