"""What the Rate view says about the group on screen: the next key, where each card stands, in words."""

from grpo_gui.ui.models.rating_draft import FLAG_TAGS, DraftState, JudgeBy, RatingDraft, Verdict
from grpo_gui.ui.models.rating_session import RatingSession
from grpo_gui.ui.models.rating_slots import SLOT_KEYS

_ORDINALS = ("best", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_LONE = "One score alone teaches nothing: give another one to compare it with. Enter keeps it all the same."
Words = tuple[str, str]


def next_key(session: RatingSession) -> Words:
    """What to press next: a few words, and a sentence."""
    draft, state = session.draft, session.draft.state
    if session.flags_next:
        return "Flag", "press the number of the card. Esc leaves it."
    if session.flagged is not None:
        reasons = ", ".join(f"{number} {tag}" for number, tag in enumerate(FLAG_TAGS, 1))
        return f"Flag {SLOT_KEYS[session.flagged]}", f"for what reason? {reasons}."
    if state.verdict is not None:
        word = "good" if state.verdict is Verdict.ALL_GOOD else "bad"
        return f"All {word}", "Enter keeps it; it says nothing of which is better, so it moves no weight."
    if draft.cards == 1:
        return "All the same", "every answer is the same, so none can be better. Space skips; A or Z says what it is."
    match state.judge_by:
        case JudgeBy.RANKS:
            return _next_rank(draft)
        case JudgeBy.SCORES:
            return _next_score(session)
        case JudgeBy.PAIRS:
            return _next_pair(draft)
        case JudgeBy.LABELS:
            tail = "Enter leaves the rest bad." if state.good else "A all good, Z all bad."
            return "Good ones", f"press the number of each good answer; again takes it back. {tail}"


def standing(draft: RatingDraft) -> tuple[str, ...]:
    """Where the cards stand so far, best first: best: 2, second: 4, tied: 1 3 5 6."""
    state = draft.state
    if state.judge_by is not JudgeBy.RANKS or not state.levels:
        return ()
    parts = [f"{rank_name(place)}: {keys_of(level)}" for place, level in enumerate(state.levels)]
    if draft.rest:
        parts.append(f"{'tied' if len(draft.rest) > 1 else 'last'}: {keys_of(draft.rest)}")
    return tuple(parts)


def badge(draft: RatingDraft, card: int) -> str:
    """The word on a card: best, second, 4 of 5, good, better; empty where nothing was said."""
    state = draft.state
    if state.verdict is not None:
        return "good" if state.verdict is Verdict.ALL_GOOD else "bad"
    match state.judge_by:
        case JudgeBy.RANKS:
            place = next((place for place, level in enumerate(state.levels) if card in level), None)
            return "" if place is None else rank_name(place)
        case JudgeBy.SCORES:
            score = draft.score_of(card)
            return "" if score is None else f"{score} of 5"
        case JudgeBy.LABELS:
            return "good" if card in state.good else ""
        case JudgeBy.PAIRS:
            return _pair_badge(state, card)


def rank_name(place: int) -> str:
    """The name of a rank from 0: best, second, ... tenth and on as numbers."""
    return _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"


def keys_of(cards: tuple[int, ...]) -> str:
    """The keys of some cards."""
    return " ".join(SLOT_KEYS[card] for card in cards)


def _next_rank(draft: RatingDraft) -> Words:
    state, rest = draft.state, draft.rest
    if not rest:
        return "All ranked", "Enter submits."
    numbers = _choice(rest)
    if state.ties_next:
        return "Equal to the last", f"press {numbers}; T again for the next best instead."
    if not state.levels:
        return "Best", f"press {numbers}."
    tail = "Enter leaves the rest tied." if len(rest) > 1 else "Enter leaves it last."
    return "Next best", f"press {numbers}. {tail}"


def _next_score(session: RatingSession) -> Words:
    draft, state = session.draft, session.draft.state
    at = SLOT_KEYS[state.cursor]
    if len(state.scores) == draft.cards:
        return "All scored", "Enter submits; arrows and 1 to 5 change a score."
    if len(state.scores) == 1 and session.layout.slots[state.scores[0][0]].count == 1:
        return f"Score {at}", f"press 1 (poor) to 5 (excellent). {_LONE}"
    tail = " Enter leaves the rest without a score." if state.scores else ""
    return f"Score {at}", f"press 1 (poor) to 5 (excellent); arrows go to another card.{tail}"


def _next_pair(draft: RatingDraft) -> Words:
    if draft.pair is None:
        return "All compared", "Enter submits."
    left, right = (SLOT_KEYS[card] for card in draft.pair)
    tail = " Enter submits what you have." if draft.state.results else ""
    place = f"pair {len(draft.state.results) + 1} of {draft.cards - 1}: "
    return "Better", f"{place}press {left} or {right} (or the arrows); T when equal.{tail}"


def _pair_badge(state: DraftState, card: int) -> str:
    own = [
        result if first == card else 1 - result for first, second, result in state.results if card in (first, second)
    ]
    counts = ((own.count(1), "won"), (own.count(0), "lost"), (own.count(0.5), "equal"))
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def _choice(cards: tuple[int, ...]) -> str:
    keys = [SLOT_KEYS[card] for card in cards]
    return keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} or {keys[-1]}"
