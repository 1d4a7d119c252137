"""How far a rater can be trusted: the same groups again, and the weight that follows from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from grpo_gui.distributions import beta_quantile
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import Terms, terms
from grpo_gui.rating_events import JUDGING_MODES, StoredRating

FEWEST_REPEATS = 5
FIRST_CONFIDENCE = 0.25  # until then
BOUND = 0.2  # the agreement is above its bound with the probability 1 - BOUND


@dataclass(frozen=True, slots=True)
class Retest:
    """What the repeats of a rater say. `agreed` adds up their shares of pairs ordered alike."""

    repeats: int
    agreed: float

    @property
    def agreement(self) -> float | None:
        """The mean share of pairs ordered alike; None before the first repeat."""
        return self.agreed / self.repeats if self.repeats else None

    @property
    def bound(self) -> float:
        """The lower 80 % bound of the agreement: a quantile of the posterior under a Beta(1, 1) prior."""
        return beta_quantile(BOUND, 1 + self.agreed, 1 + self.repeats - self.agreed)

    @property
    def confidence(self) -> float:
        """What the human weight is multiplied by: max(0, 2 bound - 1); .25 until there are five repeats.

        Coin flips agree on half of the pairs, so that they get 0.
        """
        return FIRST_CONFIDENCE if self.repeats < FEWEST_REPEATS else max(0.0, 2 * self.bound - 1)


def pair_agreement(first: Terms, second: Terms, distinct: Sequence[int]) -> float | None:
    """Share of the pairs of distinct completions that two ratings order alike; a tie in one of them counts half.

    Pairs that are tied in both say nothing about an order and are left out; None when no pair is left.
    """
    points, count = 0.0, 0
    for i, j in combinations(distinct, 2):
        values = first[i], first[j], second[i], second[j]
        if any(value is None for value in values):
            continue
        one, other = _order(first[i], first[j]), _order(second[i], second[j])
        if one == other == 0:
            continue
        count += 1
        points += 0.5 if 0 in (one, other) else float(one == other)
    return points / count if count else None


def _order(one: float | None, other: float | None) -> int:
    assert one is not None  # looked at by the caller
    assert other is not None
    return (one > other) - (one < other)


def repeat_agreements(log: RatingLog, rater: str) -> list[tuple[StoredRating, float]]:
    """Each repeat of a rater with its agreement with the rating of the same group before it, oldest first."""
    before: dict[object, StoredRating] = {}
    found = []
    for entry in log.standing(rater):
        if entry.event.mode not in JUDGING_MODES:
            continue
        earlier = before.get(entry.event.group)
        if entry.event.is_repeat and earlier is not None:
            share = pair_agreement(terms(earlier.event), terms(entry.event), distinct_completions(earlier))
            if share is not None:
                found.append((entry, share))
        before[entry.event.group] = entry
    return found


def distinct_completions(entry: StoredRating) -> list[int]:
    """The first completion of each card that was shown."""
    first = {position: index for index, position in reversed(list(enumerate(entry.event.positions)))}
    return sorted(first.values())


def retest(log: RatingLog, rater: str) -> Retest:
    """What all repeats of a rater say together."""
    shares = [share for _, share in repeat_agreements(log, rater)]
    return Retest(len(shares), sum(shares))


def confidences(log: RatingLog) -> dict[str, float]:
    """The confidence of each rater."""
    return {rater: retest(log, rater).confidence for rater in log.raters()}
