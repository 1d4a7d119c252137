"""The keys of the Rate view: what each press does to the group on screen. Plain Python, no Qt."""

from enum import Enum, auto

from grpo_gui.ui.models.rating_draft import FLAG_TAGS, DraftState, JudgeBy, RatingDraft, Verdict
from grpo_gui.ui.models.rating_slots import SLOT_KEYS, Layout


class Outcome(Enum):
    """What is left to do for the view after a press."""

    IGNORED = auto()
    CHANGED = auto()
    SUBMIT = auto()
    SKIP = auto()
    TAKE_BACK = auto()  # the newest rating: this group has nothing to take back any more
    NOTE = auto()


ENTER, SPACE, BACKSPACE, ESCAPE = "Enter", "Space", "Backspace", "Esc"
LEFT, RIGHT, UP, DOWN = "Left", "Right", "Up", "Down"
_MOVES = {LEFT: -1, RIGHT: 1}


class RatingSession:
    """One group on screen. `press` takes a key by its name (letters in capitals)."""

    def __init__(self, layout: Layout, judge_by: JudgeBy) -> None:
        self.layout = layout
        self.draft = RatingDraft(len(layout.slots), DraftState(judge_by))
        self.flags_next = False  # F was pressed: the next number names the card to flag
        self.flagged: int | None = None  # a card was named: the next number names the reason
        self.columns = 3  # of the screen, for the arrows up and down

    @property
    def is_flagging(self) -> bool:
        """True while numbers belong to a flag."""
        return self.flags_next or self.flagged is not None

    def press(self, key: str) -> Outcome:
        """Do what a key means now."""
        if self.is_flagging:
            return self._press_flag(key)
        match key:
            case "Enter":
                return Outcome.SUBMIT if self.draft.state.says_something else Outcome.IGNORED
            case "Space":
                return Outcome.SKIP
            case "Backspace":
                return Outcome.CHANGED if self.draft.undo() else Outcome.TAKE_BACK
            case "N":
                return Outcome.NOTE
            case "F":
                self.flags_next = True
            case "A":
                self.draft.judge_all(Verdict.ALL_GOOD)
            case "Z":
                self.draft.judge_all(Verdict.ALL_BAD)
            case "T":
                self.draft.tie()
            case _ if key in (LEFT, RIGHT, UP, DOWN):
                self._move(key)
            case _ if len(key) == 1 and key in SLOT_KEYS:
                self._number(key)
            case _:
                return Outcome.IGNORED
        return Outcome.CHANGED

    def click(self, card: int) -> Outcome:
        """A click on a card is its number; while scoring it goes there."""
        if self.flags_next:
            self.flags_next, self.flagged = False, card
        else:
            self.draft.pick(card)
        return Outcome.CHANGED

    def flag(self, card: int, tag: str) -> None:
        """Flag a card by mouse."""
        self.draft.flag(card, tag)
        self._stop_flagging()

    def _press_flag(self, key: str) -> Outcome:
        if key in (ESCAPE, BACKSPACE, "F"):
            self._stop_flagging()
        elif self.flagged is not None and key.isdigit() and 1 <= int(key) <= len(FLAG_TAGS):
            self.flag(self.flagged, FLAG_TAGS[int(key) - 1])
        elif self.flags_next and len(key) == 1 and key in SLOT_KEYS[: len(self.layout.slots)]:
            self.flags_next, self.flagged = False, SLOT_KEYS.index(key)
        else:
            return Outcome.IGNORED
        return Outcome.CHANGED

    def _number(self, key: str) -> None:
        state = self.draft.state
        if state.judge_by is JudgeBy.SCORES:
            if key.isdigit():
                self.draft.score(state.cursor, int(key))
        else:
            self.draft.pick(SLOT_KEYS.index(key))

    def _move(self, key: str) -> None:
        if self.draft.state.judge_by is JudgeBy.PAIRS:
            if key in (LEFT, RIGHT, DOWN):
                self.draft.prefer({LEFT: 1.0, RIGHT: 0.0, DOWN: 0.5}[key])
            return
        by = _MOVES.get(key, self.columns if key == DOWN else -self.columns)
        if 0 <= self.draft.state.cursor + by < self.draft.cards:
            self.draft.move(by)

    def _stop_flagging(self) -> None:
        self.flags_next, self.flagged = False, None
