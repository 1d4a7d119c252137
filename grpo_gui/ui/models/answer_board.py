"""The answers of one decision while they stream and are rated: blind, in an order that tells nothing."""

import random
from dataclasses import dataclass

from grpo_gui.router_events import RouterDecided
from grpo_gui.ui.router_engine import CANCELLED, DONE, FAILED, WAITING, AnswerState

STARS = (1, 2, 3, 4, 5)
_LETTERS = 26
_FINAL = (DONE, FAILED, CANCELLED)


@dataclass(slots=True)
class ShownAnswer:
    """One answer under its letter; `model` stays hidden until the ratings are submitted."""

    letter: str
    model: str
    propensity: float
    text: str = ""
    tokens: int = 0
    seconds: float = 0.0
    state: str = WAITING
    sentence: str = ""  # why it failed
    stars: int | None = None
    is_skipped: bool = False

    @property
    def is_final(self) -> bool:
        """True when nothing more comes."""
        return self.state in _FINAL

    @property
    def can_be_rated(self) -> bool:
        """True unless it failed or was cancelled before any text."""
        return bool(self.text) or self.state not in (FAILED, CANCELLED)

    @property
    def is_open(self) -> bool:
        """True while it waits for a rating."""
        return self.can_be_rated and self.stars is None and not self.is_skipped


class AnswerBoard:
    """What is shown and rated of one decision; ratings can be changed until they are submitted."""

    def __init__(self, decided: RouterDecided) -> None:
        self.decided = decided
        asked = list(zip(decided.asked, decided.propensities, strict=True))
        random.Random(decided.decision).shuffle(asked)
        self.answers = [
            ShownAnswer(_letter(place), model, propensity) for place, (model, propensity) in enumerate(asked)
        ]
        self.current = 0
        self.is_submitted = False
        self._undo: list[tuple[int, int | None, bool]] = []  # place, stars and skip before

    def take(self, state: AnswerState) -> int | None:
        """Take how far an answer is; return its place, None when it belongs to another decision."""
        place = next((i for i, answer in enumerate(self.answers) if answer.model == state.model), None)
        if place is None or state.decision != self.decided.decision:
            return None
        answer = self.answers[place]
        answer.state, answer.text, answer.sentence = state.state, state.text, state.sentence
        answer.tokens, answer.seconds = state.tokens, state.seconds
        if not answer.can_be_rated:
            answer.stars = None
            if place == self.current:
                self.move(1)
        return place

    # --- what the person does

    def choose(self, place: int) -> None:
        """Make an answer the current one."""
        if 0 <= place < len(self.answers) and self.answers[place].can_be_rated:
            self.current = place

    def move(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) answer that can be rated, around the ends."""
        for distance in range(1, len(self.answers) + 1):
            place = (self.current + step * distance) % len(self.answers)
            if self.answers[place].can_be_rated:
                self.current = place
                return

    def rate(self, stars: int) -> None:
        """Give the current answer 1 to 5, and go to the next one without a rating."""
        self._set(stars, is_skipped=False)

    def skip(self) -> None:
        """Have no opinion on the current answer."""
        self._set(None, is_skipped=True)

    def undo(self) -> None:
        """Take back the last rating or skip, as often as there is one."""
        if self.can_undo:
            place, stars, is_skipped = self._undo.pop()
            answer = self.answers[place]
            if answer.can_be_rated:
                answer.stars, answer.is_skipped = stars, is_skipped
                self.current = place

    def submit(self) -> None:
        """Close the rating; the names may be shown."""
        self.is_submitted = True

    def reopen(self) -> None:
        """The ratings could not be kept: they can be changed and submitted again."""
        self.is_submitted = False

    # --- what follows

    @property
    def is_complete(self) -> bool:
        """True when no answer is still coming."""
        return all(answer.is_final for answer in self.answers)

    @property
    def can_undo(self) -> bool:
        """True when there is a rating to take back."""
        return bool(self._undo) and not self.is_submitted

    def stars(self) -> dict[str, int]:
        """The stars of each rated answer, by model."""
        return {answer.model: answer.stars for answer in self.answers if answer.stars is not None}

    def against_submitting(self) -> str:
        """Why the ratings cannot be submitted now, as a sentence; empty when they can."""
        if self.is_submitted:
            return "These answers are rated already."
        coming = [answer.letter for answer in self.answers if not answer.is_final]
        if coming:
            return f"{_listed(coming)} {'is' if len(coming) == 1 else 'are'} still coming; Esc stops what is under way."
        open_ = [answer.letter for answer in self.answers if answer.is_open]
        return f"Rate {_listed(open_)} first, or skip with Space." if open_ else ""

    def hint(self) -> str:
        """What to do next, in words."""
        if self.is_submitted:
            return "rated; the next query may follow" if self.stars() else "not rated; the next query may follow"
        if not any(answer.can_be_rated for answer in self.answers):
            return "no model answered, so nothing can be rated"
        open_ = [answer.letter for answer in self.answers if answer.is_open]
        if not open_:
            return self.against_submitting() or "Enter submits, then the names are shown"
        return "names are shown when all are rated"

    def _set(self, stars: int | None, *, is_skipped: bool) -> None:
        answer = self.answers[self.current]
        if self.is_submitted or not answer.can_be_rated:
            return
        self._undo.append((self.current, answer.stars, answer.is_skipped))
        answer.stars, answer.is_skipped = stars, is_skipped
        places = [(self.current + distance) % len(self.answers) for distance in range(1, len(self.answers))]
        self.current = next((place for place in places if self.answers[place].is_open), self.current)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < _LETTERS else str(place + 1)


def _listed(letters: list[str]) -> str:
    return letters[0] if len(letters) == 1 else f"{', '.join(letters[:-1])} and {letters[-1]}"
