"""From what was said on screen to the entry of the log, and back again when an entry is taken back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grpo_gui.events import GroupRef
from grpo_gui.rating_events import RatingEvent
from grpo_gui.ui.models.rating_draft import DraftState, JudgeBy, RatingDraft, Verdict
from grpo_gui.ui.models.rating_slots import NOT_SHOWN, Layout

SKIP, FLAG, UNDONE = "skip", "flag", "undone"
GOOD, BAD = 1.0, 0.0


@dataclass(frozen=True, slots=True)
class Showing:
    """Which group is on screen, why, since when, and to whom. Times are seconds since the epoch."""

    group: GroupRef
    rater: str
    reason: str
    is_repeat: bool
    is_audit: bool
    shown_s: float
    first_key_s: float | None


def rating_event(showing: Showing, layout: Layout, draft: RatingDraft, now_s: float, *, skipped: bool) -> RatingEvent:
    """The entry that keeps what was said; flags without a judgement put the group aside."""
    state = draft.state
    mode = SKIP if skipped else _mode(state)
    values = (None,) * draft.cards if mode in (SKIP, FLAG) else _values(draft)
    members = [slot.members for slot in layout.slots]
    return RatingEvent(
        group=showing.group,
        rater=showing.rater,
        mode=mode,
        values=tuple(None if place == NOT_SHOWN else values[place] for place in layout.positions),
        positions=layout.positions,
        shown_s=showing.shown_s,
        first_key_s=showing.first_key_s,
        submitted_s=now_s,
        pairs=_pairs(state, members) if mode == JudgeBy.PAIRS else (),
        tags=tuple((completion, tag) for card, tag in state.flags for completion in members[card]),
        note=state.note,
        reason=showing.reason,
        is_repeat=showing.is_repeat,
        is_audit=showing.is_audit,
    )


def taking_back(rating_id: int, event: RatingEvent, now_s: float) -> RatingEvent:
    """The entry that takes an earlier one back."""
    return RatingEvent(
        event.group, event.rater, UNDONE, values=(), positions=(), shown_s=now_s, first_key_s=now_s, submitted_s=now_s,
        undoes=rating_id,
    )  # fmt: skip


def states_of(event: RatingEvent, layout: Layout) -> list[DraftState]:
    """What was said, press by press, so that each press can be taken back; the empty beginning comes first."""
    card_of = {member: slot.place for slot in layout.slots for member in slot.members}
    flags = tuple(sorted({(card_of[completion], tag) for completion, tag in event.tags}))
    how = JudgeBy(event.mode) if event.mode in set(JudgeBy) else JudgeBy.RANKS
    states = [DraftState(how)]
    if flags or event.note:
        states.append(DraftState(how, flags=flags, note=event.note))
    value_of = {card: event.values[slot.members[0]] for card, slot in enumerate(layout.slots)} if event.values else {}
    given = [(card, value) for card, value in value_of.items() if value is not None]
    match event.mode:
        case "ranks":
            _add_ranks(states, given)
        case "scores":
            for card, value in given:
                states.append(replace(states[-1], scores=(*states[-1].scores, (card, int(value))), cursor=card))
        case "labels":
            for card in (card for card, value in given if value == GOOD):
                states.append(replace(states[-1], good=states[-1].good | {card}))
        case "pairs":
            for first, second, result in event.pairs:
                pair = (card_of[first], card_of[second], result)
                states.append(replace(states[-1], results=(*states[-1].results, pair)))
        case "all_good" | "all_bad":
            states.append(replace(states[-1], verdict=Verdict(event.mode)))
    return states


def _add_ranks(states: list[DraftState], given: Sequence[tuple[int, float]]) -> None:
    """Every level but the last, whose cards were left tied."""
    levels = sorted({value for _, value in given})
    for value in levels[:-1] or levels:
        cards = tuple(card for card, level in given if level == value)
        states.append(replace(states[-1], levels=(*states[-1].levels, cards)))


def _mode(state: DraftState) -> str:
    if state.verdict is not None:
        return state.verdict.value
    return state.judge_by.value if state.judges else FLAG


def _values(draft: RatingDraft) -> tuple[float | None, ...]:
    state = draft.state
    cards = range(draft.cards)
    if state.verdict is not None:
        return (5.0 if state.verdict is Verdict.ALL_GOOD else 1.0,) * draft.cards
    match state.judge_by:
        case JudgeBy.RANKS:
            level_of = {card: float(place) for place, level in enumerate(state.levels, 1) for card in level}
            return tuple(level_of.get(card, float(len(state.levels) + 1)) for card in cards)
        case JudgeBy.SCORES:
            scores = dict(state.scores)
            return tuple(float(scores[card]) if card in scores else None for card in cards)
        case JudgeBy.LABELS:
            return tuple(GOOD if card in state.good else BAD for card in cards)
        case JudgeBy.PAIRS:
            return (None,) * draft.cards


def _pairs(state: DraftState, members: Sequence[tuple[int, ...]]) -> tuple[tuple[int, int, float], ...]:
    return tuple((members[first][0], members[second][0], result) for first, second, result in state.results)
