"""Colour and dash of each overlaid run: a pair is used once, and neighbours differ in both."""

from collections.abc import Collection
from typing import NamedTuple


class RunStyle(NamedTuple):
    """A colour token with a dash: solid, dash or dot."""

    color: str
    dash: str


# Never vermillion beside orange; colours that look alike to some people get different dashes in the first round.
STYLES = tuple(
    RunStyle(color, dash)
    for dashes in (
        ("solid", "dash", "solid", "dash", "dot", "dot"),
        ("dash", "dot", "dot", "solid", "solid", "solid"),
        ("dot", "solid", "dash", "dot", "dash", "dash"),
    )
    for color, dash in zip(("blue", "orange", "green", "purple", "ink", "sky"), dashes, strict=True)
)


def free_slot(taken: Collection[int]) -> int:
    """The lowest number that no overlaid run has."""
    return next(slot for slot in range(len(taken) + 1) if slot not in taken)


def style_of(slot: int) -> RunStyle:
    """The style of a slot; from the 19th run on they repeat."""
    return STYLES[slot % len(STYLES)]
