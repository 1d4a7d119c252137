"""Opens a group that was rated: the person's terms beside the program's rewards."""

from collections.abc import Sequence

from grpo_gui.rating.tau import group_tau
from grpo_gui.rating.values import terms
from grpo_gui.rating_events import RatingEvent
from grpo_gui.ui.models.opened_group import OpenedGroup, OpenedRow
from grpo_gui.ui.models.rating_draft import JudgeBy, RatingDraft
from grpo_gui.ui.models.rating_queue import Ready
from grpo_gui.ui.models.rating_words import badge

Terms = Sequence[float | None]


def opened_group(event: RatingEvent, ready: Ready, draft: RatingDraft) -> OpenedGroup:
    """The rows of a rated group, the best for the person first; scores are shown around their mean in the group."""
    mine, program = _centred(terms(event)), ready.program
    slots = ready.layout.slots
    rows = [
        OpenedRow(
            said(event, draft, slot.place),
            ready.group.completions[slot.members[0]].text,
            slot.count,
            mine[slot.members[0]],
            program[slot.members[0]],
        )
        for slot in slots
    ]
    rows.sort(key=lambda row: (row.term is None, -(row.term or 0.0)))
    known = [value for value in program if value is not None]
    return OpenedGroup(
        step=event.group.step,
        submitted_s=event.submitted_s,
        rows=tuple(rows),
        group_size=len(ready.group.completions),
        bounds=(min([0.0, *known]), max([1.0, *known])),
        tau=group_tau(terms(event), program, [slot.members[0] for slot in slots]),
    )


def said(event: RatingEvent, draft: RatingDraft, card: int) -> str:
    """What was said of a card: its rank, its score, a word."""
    tag = draft.tag_of(card)
    if event.mode == JudgeBy.RANKS:
        level = next((place for place, cards in enumerate(draft.state.levels, 1) if card in cards), None)
        words = str(level if level is not None else len(draft.state.levels) + 1)
    elif event.mode == JudgeBy.LABELS:
        words = badge(draft, card) or "bad"
    else:
        words = badge(draft, card)
    return ", ".join(word for word in (words, tag) if word) or "\u2013"


def _centred(values: Terms) -> list[float | None]:
    known = [value for value in values if value is not None]
    mean = sum(known) / len(known) if known else 0.0
    return [None if value is None else value - mean for value in values]
