"""A finding as the plots mark it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FindingMark:
    """An open finding: `color` is a token; `is_shown` while its card is open."""

    step: int
    name: str
    color: str
    is_shown: bool = False
