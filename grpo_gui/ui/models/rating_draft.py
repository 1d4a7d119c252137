"""What a person has said of the group on screen so far: every press is a state, so that each can be taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum


class JudgeBy(StrEnum):
    """How a group is judged; the values are what the database keeps."""

    RANKS = "ranks"
    SCORES = "scores"
    PAIRS = "pairs"
    LABELS = "labels"


class Verdict(StrEnum):
    """One word for the whole group."""

    ALL_GOOD = "all_good"
    ALL_BAD = "all_bad"


FLAG_TAGS = ("repeats", "off topic", "false", "wrong language", "unsafe", "broken text")
MOST_SCORE = 5
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DraftState:
    """All by card (from 0). `levels` are the ranks given so far, best first, each with the cards that tie in it."""

    judge_by: JudgeBy = JudgeBy.RANKS
    cursor: int = 0
    levels: tuple[tuple[int, ...], ...] = ()
    ties_next: bool = False  # the next pick joins the last rank
    scores: tuple[tuple[int, int], ...] = ()  # (card, 1 to 5)
    good: frozenset[int] = frozenset()
    results: tuple[tuple[int, int, float], ...] = ()  # (card, card, 1 first better, 0 second better, .5 equal)
    verdict: Verdict | None = None
    flags: tuple[tuple[int, str], ...] = ()
    note: str = ""

    @property
    def judges(self) -> bool:
        """True when something was said of which answer is better."""
        return bool(self.levels or self.scores or self.good or self.results or self.verdict)

    @property
    def says_something(self) -> bool:
        """True when Enter has something to keep: a judgement, or flags that put the group aside."""
        return self.judges or bool(self.flags)


@dataclass(slots=True)
class RatingDraft:
    """The states of one group of `cards` cards, the newest last."""

    cards: int
    state: DraftState = field(default_factory=DraftState)
    _before: list[DraftState] = field(default_factory=list)

    # --- what is asked next

    @property
    def pair(self) -> Pair | None:
        """The two cards to compare now: the better one stays and meets the next; None when all have met."""
        results = self.state.results
        if self.cards < 2 or len(results) >= self.cards - 1:
            return None
        if not results:
            return (0, 1)
        first, second, result = results[-1]
        return (first if result >= 0.5 else second, len(results) + 1)

    @property
    def ranked(self) -> tuple[int, ...]:
        """The cards that have a rank, best first."""
        return tuple(card for level in self.state.levels for card in level)

    @property
    def rest(self) -> tuple[int, ...]:
        """The cards that have no rank yet."""
        ranked = self.ranked
        return tuple(card for card in range(self.cards) if card not in ranked)

    def score_of(self, card: int) -> int | None:
        """The score given to a card."""
        return dict(self.state.scores).get(card)

    def tag_of(self, card: int) -> str:
        """The reason a card is flagged for, empty when it is not."""
        return dict(self.state.flags).get(card, "")

    # --- what a person does

    def judge_by(self, how: JudgeBy) -> None:
        """Judge another way; flags and note stay."""
        if how is not self.state.judge_by:
            self._become(DraftState(how, flags=self.state.flags, note=self.state.note))

    def pick(self, card: int) -> None:
        """Do what the number of a card means: next best, better of the pair, good or not, or just go there."""
        state = replace(self.state, verdict=None)
        if not 0 <= card < self.cards:
            return
        match state.judge_by:
            case JudgeBy.RANKS:
                self._rank(state, card)
            case JudgeBy.LABELS:
                self._become(replace(state, good=state.good ^ {card}, cursor=card))
            case JudgeBy.PAIRS:
                if self.pair is not None and card in self.pair:
                    self.prefer(1.0 if card == self.pair[0] else 0.0)
            case JudgeBy.SCORES:
                self.state = replace(self.state, cursor=card)

    def tie(self) -> None:
        """Let the next pick tie with the last one; of a pair, both are equal."""
        if self.state.judge_by is JudgeBy.PAIRS:
            self.prefer(0.5)
        elif self.state.judge_by is JudgeBy.RANKS and self.state.levels and self.rest:
            self._become(replace(self.state, ties_next=not self.state.ties_next))

    def prefer(self, result: float) -> None:
        """Say of the pair at hand 1 (first better), 0 (second better) or .5 (equal)."""
        if self.state.judge_by is JudgeBy.PAIRS and self.pair is not None:
            results = (*self.state.results, (*self.pair, result))
            self._become(replace(self.state, results=results, verdict=None))

    def score(self, card: int, value: int) -> None:
        """Score a card from 1 to 5 and go to the next one without a score."""
        if self.state.judge_by is not JudgeBy.SCORES or not 1 <= value <= MOST_SCORE or not 0 <= card < self.cards:
            return
        scores = tuple(sorted((dict(self.state.scores) | {card: value}).items()))
        done = dict(scores)
        order = [*range(card + 1, self.cards), *range(card)]
        cursor = next((place for place in order if place not in done), card)
        self._become(replace(self.state, scores=scores, cursor=cursor, verdict=None))

    def move(self, by: int) -> None:
        """Move the cursor over the cards; nothing that needs taking back."""
        self.state = replace(self.state, cursor=min(max(self.state.cursor + by, 0), self.cards - 1))

    def judge_all(self, verdict: Verdict) -> None:
        """Call all of them good, or all bad."""
        blank = DraftState(self.state.judge_by, flags=self.state.flags, note=self.state.note)
        self._become(replace(blank, verdict=verdict))

    def flag(self, card: int, tag: str) -> None:
        """Flag a card for a reason; the same reason again takes the flag off."""
        flags = {place: reason for place, reason in self.state.flags if (place, reason) != (card, tag)}
        if self.tag_of(card) != tag:
            flags[card] = tag
        self._become(replace(self.state, flags=tuple(sorted(flags.items()))))

    def annotate(self, note: str) -> None:
        """Keep a note with the rating."""
        if note != self.state.note:
            self._become(replace(self.state, note=note))

    def undo(self) -> bool:
        """Take the last press back; False when there was none."""
        if not self._before:
            return False
        self.state = self._before.pop()
        return True

    def restore(self, states: Sequence[DraftState]) -> None:
        """Take up what was said before, press by press; the last is the newest."""
        *self._before, self.state = states

    def _rank(self, state: DraftState, card: int) -> None:
        if card in self.ranked:
            return
        levels = (*state.levels[:-1], (*state.levels[-1], card)) if state.ties_next else (*state.levels, (card,))
        self._become(replace(state, levels=levels, ties_next=False, cursor=card))

    def _become(self, state: DraftState) -> None:
        self._before.append(self.state)
        self.state = state
