"""What an answer was worth: quality, cost and latency kept apart, and the trade-off that makes one reward of them."""

import math
from dataclasses import dataclass
from typing import Protocol

from grpo_gui.errors import BadInputError

FLAT_SPREAD = 1e-9  # rewards that differ by no more than this carry no signal


class Measured(Protocol):
    """What a reward is made of: an `Outcome`, or a rating of the log, whose numbers were checked when it came."""

    @property
    def quality(self) -> float:
        """From 0 to 1."""

    @property
    def cost(self) -> float:
        """In the user's own unit."""

    @property
    def latency_s(self) -> float:
        """In seconds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A rated answer: quality from 0 to 1, cost in the user's own unit per answer, latency in seconds.

    Raises:
        BadInputError: a value is missing, no number, not finite or out of its range.
    """

    quality: float
    cost: float = 0.0
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        for name, highest in (("quality", 1.0), ("cost", math.inf), ("latency_s", math.inf)):
            object.__setattr__(self, name, checked_number(name, getattr(self, name), highest))


@dataclass(frozen=True, slots=True)
class TradeOff:
    """reward = quality - cost_weight * cost - latency_weight * latency_s.

    Raises:
        BadInputError: a weight is negative or not finite.
    """

    cost_weight: float = 0.0
    latency_weight: float = 0.0

    def __post_init__(self) -> None:
        for name in ("cost_weight", "latency_weight"):
            object.__setattr__(self, name, checked_number(name, getattr(self, name), math.inf))

    def reward(self, outcome: "Measured") -> float:
        """The reward of one answer."""
        return outcome.quality - self.cost_weight * outcome.cost - self.latency_weight * outcome.latency_s


def checked_number(name: str, value: object, highest: float) -> float:
    """The value as a float.

    Raises:
        BadInputError: it is no number, not finite, negative, or above `highest`.
    """
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise BadInputError(f"{name} is {value!r}; give a number {_range(highest)}.")
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or not 0 <= number <= highest:
        raise BadInputError(f"{name} is {str(value)[:40]}; give a number {_range(highest)}.")
    return number


def _range(highest: float) -> str:
    return "of 0 or more" if math.isinf(highest) else f"from 0 to {highest:g}"
