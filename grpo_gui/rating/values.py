"""From ratings to rewards: the human value of each completion of a group."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grpo_gui.events import GroupRef
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.pairs import bradley_terry
from grpo_gui.rating_events import RatingEvent, StoredRating

SCORES_FOR_STD = 20  # given scores until a rater's own spread is used; before, a point counts 1

Terms = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class RaterScale:
    """How a rater uses the scores: their mean and standard deviation over all that count."""

    mean: float
    std: float


NO_SCALE = RaterScale(0.0, 1.0)


@dataclass(frozen=True, slots=True)
class HumanValues:
    """The human value of each completion of a group, None where nobody said anything, and where they come from."""

    values: Terms
    rating_ids: tuple[int, ...]
    raters: tuple[str, ...]

    @property
    def teaches(self) -> bool:
        """Whether two completions have different values; a lone rating, or equal ones, teach nothing."""
        known = [value for value in self.values if value is not None]
        return len(known) > 1 and max(known) > min(known)


def rater_scales(log: RatingLog) -> dict[str, RaterScale]:
    """The scale of each rater who gave scores, from the whole log: the order of rating does not matter."""
    given: dict[str, list[float]] = {}
    for by_rater in log.counting().values():
        for rater, entry in by_rater.items():
            if entry.event.mode == "scores":
                given.setdefault(rater, []).extend(one_per_card(entry.event).values())
    return {rater: _scale(sorted(scores)) for rater, scores in given.items() if scores}


def _scale(scores: Sequence[float]) -> RaterScale:
    std = statistics.stdev(scores) if len(scores) >= SCORES_FOR_STD else 1.0
    return RaterScale(statistics.fmean(scores), std or 1.0)


def one_per_card(event: RatingEvent) -> dict[int, float]:
    """The given values by the place where they were shown: equal completions were rated once."""
    places = zip(event.positions, event.values, strict=True)
    return {position: value for position, value in places if value is not None}


def terms(event: RatingEvent, scale: RaterScale = NO_SCALE) -> Terms:
    """What a rating says about each completion of its group; higher is better, None is unrated.

    Scores are centred and scaled by the rater's own; rankings give `mid_rank_terms`, pairs Bradley-Terry strengths.
    A label is 1 (good) or -1 (bad). All good is 1 and all bad -1 for each: no difference inside the group, but one
    between groups.
    """
    match event.mode:
        case "scores":
            return tuple(None if value is None else (value - scale.mean) / scale.std for value in event.values)
        case "ranks":
            return mid_rank_terms(event.values)
        case "pairs":
            return _pair_terms(event)
        case "labels":
            return tuple(None if value is None else 2 * value - 1 for value in event.values)
        case "all_good" | "all_bad":
            return (1.0 if event.mode == "all_good" else -1.0,) * len(event.values)
        case _:
            return (None,) * len(event.values)


def mid_rank_terms(levels: Sequence[float | None]) -> Terms:
    """Return sqrt(3 (n-1) / (n+1)) (n + 1 - 2 midrank) / (n - 1) of each ranked completion; 1 is the best level.

    n counts the ranked ones, copies too, and equal levels share the mean of their ranks. Without ties the population
    variance is 1, with them less, and with all tied every term is 0. Source: GOPO (arXiv 2602.03876) up to scale.
    """
    ranked = [level for level in levels if level is not None]
    count = len(ranked)
    if count < 2:
        return tuple(None if level is None else 0.0 for level in levels)
    scale = math.sqrt(3 * (count - 1) / (count + 1)) / (count - 1)

    def term(level: float) -> float:
        better = sum(other < level for other in ranked)
        equal = sum(other == level for other in ranked)
        return scale * (count + 1 - 2 * (better + (equal + 1) / 2))

    return tuple(None if level is None else term(level) for level in levels)


def _pair_terms(event: RatingEvent) -> Terms:
    """Strengths of the compared cards, shared by the copies on each."""
    places = event.positions
    strengths = bradley_terry([(places[first], places[second], result) for first, second, result in event.pairs])
    return tuple(strengths.get(place) for place in places)


def group_values(
    by_rater: Mapping[str, StoredRating], scales: Mapping[str, RaterScale], size: int | None = None
) -> HumanValues:
    """Return the mean of what each rater's counting entry says about the completions of one group.

    Raises:
        ValueError: an entry speaks of another number of completions than `size`.
    """
    entries = sorted(by_rater.items())
    said = [terms(entry.event, scales.get(rater, NO_SCALE)) for rater, entry in entries]
    if size is not None and any(len(one) != size for one in said):
        raise ValueError(f"A rating does not fit a group of {size} completions.")
    values = tuple(_mean([value for value in column if value is not None]) for column in zip(*said, strict=True))
    return HumanValues(values, tuple(entry.id for _, entry in entries), tuple(rater for rater, _ in entries))


def human_values(log: RatingLog) -> dict[GroupRef, HumanValues]:
    """The human values of every group with a rating that counts."""
    scales = rater_scales(log)
    return {ref: group_values(by_rater, scales) for ref, by_rater in log.counting().items()}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
