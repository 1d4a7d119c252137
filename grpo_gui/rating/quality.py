"""Signs that ratings are given carelessly: a favoured place, the same answer again and again, haste."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from grpo_gui.distributions import upper_gamma
from grpo_gui.rating.agreement import Retest, retest
from grpo_gui.rating.files import IMPORTED
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import terms
from grpo_gui.rating_events import JUDGING_MODES, RatingEvent, StoredRating

HASTE_S = 0.4
FEWEST_PICKS = 20
SLOT_P = 0.01
LONG_LINE = 10


@dataclass(frozen=True, slots=True)
class RaterQuality:
    """What is known about a rater. `slot_p` is None before 20 choices: the chance of such favour without any bias."""

    rater: str
    ratings: int
    retest: Retest
    slot_p: float | None
    favourite_slot: int | None  # from 0
    too_fast: int
    longest_line: int  # ratings in a row that gave every place the same

    @property
    def is_slot_biased(self) -> bool:
        """Whether one place is chosen more often than chance explains."""
        return self.slot_p is not None and self.slot_p < SLOT_P

    @property
    def is_straight_lining(self) -> bool:
        """Whether the same answer was given ten times in a row to groups in random order."""
        return self.longest_line >= LONG_LINE


def rater_quality(log: RatingLog, rater: str) -> RaterQuality:
    """Look at all standing ratings of a rater."""
    given = (entry for entry in log.standing(rater) if entry.event.mode in JUDGING_MODES)
    entries = [entry for entry in given if entry.event.reason != IMPORTED]  # nobody saw those in places here
    picks = [pick for entry in entries if (pick := picked_slot(entry.event)) is not None]
    p, favourite = slot_bias(picks)
    return RaterQuality(
        rater=rater,
        ratings=len(entries),
        retest=retest(log, rater),
        slot_p=p,
        favourite_slot=favourite,
        too_fast=sum(is_too_fast(entry.event) for entry in entries),
        longest_line=longest_line(entries),
    )


def picked_slot(event: RatingEvent) -> tuple[int, int] | None:
    """The place of the best answer and the number of places shown; None when none is better than all others."""
    by_slot = {slot: value for slot, value in zip(event.positions, terms(event), strict=True) if value is not None}
    if len(by_slot) < 2:
        return None
    best = max(by_slot.values())
    winners = [slot for slot, value in by_slot.items() if value == best]
    shown = {slot for slot in event.positions if slot >= 0}  # below 0: there was no card for it
    return (winners[0], len(shown)) if len(winners) == 1 else None


def slot_bias(picks: Sequence[tuple[int, int]]) -> tuple[float | None, int | None]:
    """Return the chi-square p that every place is chosen equally often, and the place chosen most beyond that.

    Groups may have shown different numbers of places: a place is expected 1 / shown times in each that had it.
    """
    places = max((shown for _, shown in picks), default=0)
    if len(picks) < FEWEST_PICKS or places < 2:
        return None, None
    expected = [sum(1 / shown for _, shown in picks if shown > place) for place in range(places)]
    counts = [sum(slot == place for slot, _ in picks) for place in range(places)]
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))
    favourite = max(range(places), key=lambda place: counts[place] - expected[place])
    return upper_gamma((places - 1) / 2, statistic / 2), favourite


def is_too_fast(event: RatingEvent) -> bool:
    """Whether the first key came sooner than anybody could read."""
    return event.first_key_s is not None and event.first_key_s - event.shown_s < HASTE_S


def answer_by_place(event: RatingEvent) -> tuple[object, ...] | None:
    """What was answered place by place; None for 'all good' and 'all bad', which may well come again and again."""
    if event.mode in ("all_good", "all_bad"):
        return None
    cards = sorted(set(zip(event.positions, event.values, strict=True)))
    places = event.positions
    pairs = tuple((places[first], places[second], result) for first, second, result in event.pairs)
    return (event.mode, *cards, *pairs)


def longest_line(entries: Sequence[StoredRating]) -> int:
    """The most ratings in a row that gave every place the same answer."""
    answers = [answer_by_place(entry.event) for entry in entries]
    return max((len(list(run)) for answer, run in groupby(answers) if answer is not None), default=0)
