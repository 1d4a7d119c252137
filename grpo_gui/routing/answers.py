"""What whoever answers tells: growing text, and how it ended."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from grpo_gui.errors import GrpoGuiError


class NoAnswerError(GrpoGuiError):
    """A model did not answer, or broke off; `is_dead`: it should not be asked again before it was tried."""

    def __init__(self, message: str, *, is_dead: bool) -> None:
        super().__init__(message)
        self.is_dead = is_dead


class StoppedError(Exception):
    """The answer is not wanted any more: cancelled, or over its time."""


# (a piece of text, its tokens); raises StoppedError. ("", 0) before the first piece: loading is over, time counts now.
Grew = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One answer: to which query, with which seed, and how long it may take."""

    query: str
    seed: int
    time_limit_s: float


class Answerer(Protocol):
    """A model that can be asked, from any thread."""

    def answer(self, wanted: Wanted, grew: Grew) -> int | None:
        """Answer piece by piece through `grew`; return the tokens if they are known better than their sum.

        Raises:
            NoAnswerError: it cannot be reached, refuses, or breaks off.
            StoppedError: `grew` raised it.
        """

    def check(self) -> None:
        """See whether it could be asked now.

        Raises:
            NoAnswerError: it could not; the sentence says why.
        """
