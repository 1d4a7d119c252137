"""A group as it is laid out for rating: identical answers once, shuffled, with what differs between them."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_gui.events import CompletionSample
from grpo_gui.ui.models.rating_differences import Span, difference, length_text
from grpo_gui.ui.models.visible_text import paragraph

SLOT_KEYS = "1234567890QWERYUIOPSDGHJKLXCVB"  # the letters that are left by T, A, Z, F, M and N
NOT_SHOWN = -1


@dataclass(frozen=True, slots=True)
class Slot:
    """One card. `members` are the completions of the group that gave this answer, by index."""

    place: int  # from 0, in order of the screen
    members: tuple[int, ...]
    text: str  # as it is shown
    length: str
    truncated: bool
    differs: tuple[Span, ...]  # from the most common answer, in the shown text
    footnote: str

    @property
    def key(self) -> str:
        """The key that stands for this card."""
        return SLOT_KEYS[self.place]

    @property
    def count(self) -> int:
        """How many completions of the group gave this answer."""
        return len(self.members)


@dataclass(frozen=True, slots=True)
class Layout:
    """The cards of a group, and where each completion stands (`NOT_SHOWN` beyond the last key)."""

    slots: tuple[Slot, ...]
    positions: tuple[int, ...]

    @property
    def left_out(self) -> int:
        """How many completions have no card."""
        return sum(position == NOT_SHOWN for position in self.positions)


def shuffled(completions: Sequence[CompletionSample], rng: random.Random) -> Layout:
    """Lay out a group in a new order."""
    texts = list(dict.fromkeys(completion.text for completion in completions))
    rng.shuffle(texts)
    place_of = {text: place if place < len(SLOT_KEYS) else NOT_SHOWN for place, text in enumerate(texts)}
    return laid_out(completions, tuple(place_of[completion.text] for completion in completions))


def laid_out(completions: Sequence[CompletionSample], positions: Sequence[int]) -> Layout:
    """Lay out a group as it was shown before: `positions` gives the card of each completion."""
    members: dict[int, list[CompletionSample]] = {}
    for completion, place in zip(completions, positions, strict=True):
        if place != NOT_SHOWN:
            members.setdefault(place, []).append(completion)
    sizes = Counter({place: len(members[place]) for place in sorted(members)})
    common, _ = sizes.most_common(1)[0]
    slots = tuple(_slot(place, members[place], common, members[common][0].text) for place in sorted(members))
    return Layout(slots, tuple(positions))


def _slot(place: int, members: Sequence[CompletionSample], common: int, common_text: str) -> Slot:
    text = paragraph(members[0].text)
    truncated = all(member.truncated for member in members)
    length = length_text(members[0].text) + (", cut at the limit" if truncated else "")
    spans, footnote = _compared(text, paragraph(common_text), SLOT_KEYS[common]) if place != common else ((), "")
    return Slot(place, tuple(member.index for member in members), text, length, truncated, spans, footnote)


def _compared(text: str, common: str, key: str) -> tuple[tuple[Span, ...], str]:
    found = difference(common, text)
    if found.spans is None:
        return (), f"shares little with {key}"
    if found.spans:
        return found.spans, f"differs from {key}"
    return (), f"leaves out parts of {key}"
