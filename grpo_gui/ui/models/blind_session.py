"""Blind comparison of two snapshots by a person: which pair comes next, on which side each stands, what was chosen."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_gui.snapshots.judging import Comparison, Pair, WinRate, rated
from grpo_gui.store.records_snapshots import PairRating, PairRef

KEYS = ("left", "right", "equal", "skip")


@dataclass(frozen=True, slots=True)
class BlindPair:
    """A pair as it is shown: nobody can tell which side is the first snapshot's."""

    pair: Pair
    first_is_left: bool

    @property
    def left(self) -> str:
        """The text on the left."""
        return (self.pair.first if self.first_is_left else self.pair.second).text

    @property
    def right(self) -> str:
        """The text on the right."""
        return (self.pair.second if self.first_is_left else self.pair.first).text


class BlindSession:
    """Goes through the pairs whose texts differ, in a shuffled order; the result stays hidden until the goal.

    Args:
        ref: the two snapshots and the run.
        comparison: their answers.
        given: the ratings that are stored already, with their ids, oldest first.
        goal: ratings until the result shows; fewer when there are fewer pairs that differ.
    """

    def __init__(
        self, ref: PairRef, comparison: Comparison, given: Sequence[tuple[int, PairRating]], goal: int
    ) -> None:
        self.ref, self._seed = ref, comparison.seed
        self._pairs = comparison.distinct()
        random.Random(comparison.seed).shuffle(self._pairs)
        known = {(pair.prompt, pair.first.text, pair.second.text) for pair in self._pairs}
        self._given = [
            (rating_id, rating)
            for rating_id, rating in given
            if (rating.prompt, rating.first_text, rating.second_text) in known
        ]
        self.goal = min(goal, len(self._pairs))

    @property
    def done(self) -> int:
        """Choices made; skipped pairs do not count."""
        return sum(rating.choice != "skipped" for _, rating in self._given)

    @property
    def current(self) -> BlindPair | None:
        """The pair to judge now; None when the goal is reached or every pair was seen."""
        if self.done >= self.goal:
            return None
        seen = {(rating.prompt, rating.first_text, rating.second_text) for _, rating in self._given}
        for pair in self._pairs:
            if (pair.prompt, pair.first.text, pair.second.text) not in seen:
                # A seed of its own: the same side every time, and no pattern over the pairs.
                return BlindPair(pair, random.Random(f"{self._seed} {pair.prompt}").random() < 0.5)
        return None

    @property
    def result(self) -> WinRate | None:
        """How often each was preferred; None while it is hidden."""
        return rated([rating.choice for _, rating in self._given]) if self.current is None and self.done else None

    def rating(self, key: str) -> PairRating | None:
        """What choosing left, right, equal or skip means for the pair at hand; None when there is none."""
        shown = self.current
        if shown is None:
            return None
        sides = ("first", "second") if shown.first_is_left else ("second", "first")
        choice = dict(zip(KEYS, (*sides, "equal", "skipped"), strict=True))[key]
        pair = shown.pair
        return PairRating(
            self.ref, pair.prompt, self._seed, pair.first.text, pair.second.text, shown.first_is_left, choice
        )

    def take(self, rating_id: int, rating: PairRating) -> None:
        """Note that a rating is stored; the next pair comes."""
        self._given.append((rating_id, rating))

    def undo(self) -> int | None:
        """Take back the newest choice; return the id of its rating, None when there is none."""
        return self._given.pop()[0] if self._given else None


def flipped(rating: PairRating) -> PairRating:
    """The same rating with the two snapshots in the other order."""
    choice = {"first": "second", "second": "first"}.get(rating.choice, rating.choice)
    pair = PairRef(rating.pair.run_id, rating.pair.second_snapshot_id, rating.pair.first_snapshot_id)
    return PairRating(
        pair, rating.prompt, rating.seed, rating.second_text, rating.first_text, not rating.first_was_left, choice
    )


class Pace:
    """How long a person takes for a choice, to tell how long the rest will take."""

    def __init__(self) -> None:
        self._last_s: float | None = None
        self._taken: list[float] = []

    def note(self, now_s: float) -> None:
        """A choice was made now."""
        if self._last_s is not None:
            self._taken.append(now_s - self._last_s)
        self._last_s = now_s

    def left_s(self, choices: int) -> float | None:
        """Seconds that so many choices will take; None before there are three to tell from."""
        recent = self._taken[-20:]
        return choices * statistics.median(recent) if len(recent) >= 3 else None
