"""The desk of the Rate view: the group on screen, the next ones at hand, what was said, and the way back."""

import time
from collections import deque
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.rating.progress import editing_sentence
from grpo_gui.rating_events import RatingEvent, StoredRating
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.opened_group import OpenedGroup
from grpo_gui.ui.models.rating_draft import JudgeBy
from grpo_gui.ui.models.rating_opening import opened_group
from grpo_gui.ui.models.rating_queue import Key, RatingLibrary, Ready, ready_again
from grpo_gui.ui.models.rating_reading import Looked, Wanted, look
from grpo_gui.ui.models.rating_record import SKIP, Showing, rating_event, states_of
from grpo_gui.ui.models.rating_session import Outcome, RatingSession
from grpo_gui.ui.models.rating_side import RatingPicture
from grpo_gui.ui.models.rating_use import RatingUse
from grpo_gui.ui.models.rating_writing import Given, RatingWriter
from grpo_gui.ui.workspace import Workspace

AT_HAND = 4  # groups that are ready before they are wanted
_AFTER_PAINTING_MS = 80
DEFAULT_RATER = "me"
OPENED = "You have seen the program's rewards of this group, so it no longer counts for the comparison with them."


class RatingDesk(QObject):
    """Everything on the GUI thread; reads and writes happen beside it.

    Args:
        workspace: where the store is reached.
        use: how the selected run uses ratings now.
    """

    shown = Signal()  # another group is on screen, or none
    judged = Signal()  # something else was said of it, or why there is none
    looked = Signal(object)  # RatingPicture
    stored = Signal()  # the log has another entry

    def __init__(self, workspace: Workspace, use: RatingUse) -> None:
        super().__init__()
        self._workspace, self._use = workspace, use
        self._library = RatingLibrary(0)
        self._ready: deque[Ready] = deque()
        self._given: list[Given] = []
        self._submitted: set[Key] = set()  # here, so that they are not shown before the store knows
        self._is_reading = self._must_read = self._knows_given = False
        self._must_look = self._is_exhausted = False
        self._shown_s = 0.0
        self._first_key_s: float | None = None
        use.changed.connect(self._look_anew)
        self.writing = RatingWriter(workspace)
        self.writing.stored.connect(self._stored)
        self.writing.refused.connect(self._refused)
        self.how = JudgeBy.RANKS
        self.current: Ready | None = None
        self.session: RatingSession | None = None
        self.opened: OpenedGroup | None = None
        self.picture: RatingPicture | None = None
        self.notice = ""  # what a person should know of the group on screen before rating it again

    @property
    def run_id(self) -> int:
        """The run whose groups are rated, 0 without one."""
        return self._library.run_id

    @property
    def rater(self) -> str:
        """The name that is stored with each rating."""
        return self._workspace.settings.rater or DEFAULT_RATER

    @property
    def is_looking(self) -> bool:
        """True until the first look at the run's groups is over."""
        return bool(self.run_id) and not self._knows_given

    @property
    def is_stored(self) -> bool:
        """True when the database has the newest rating."""
        return not self._given or self._given[-1].rating_id is not None

    # --- which run, which groups

    def set_run(self, run_id: int) -> None:
        """Take the groups of another run; 0 for none."""
        self._library = RatingLibrary(run_id)
        self._ready.clear()
        self._given, self._submitted = [], set()
        self.opened, self.notice, self.picture = None, "", None
        self._is_reading = self._knows_given = self._is_exhausted = False
        self._show(None)
        self._look_anew()

    def look(self) -> None:
        """Read what came since, and more groups where few are at hand; one look at a time."""
        if not self.run_id:
            return
        if self._is_reading:
            self._must_read = True
            return
        self._is_reading, self._must_read = True, False
        known = {ready.key for ready in self._ready} | self._submitted
        if self.current is not None:
            known.add(self.current.key)
        count = AT_HAND - len(self._ready) + (self.current is None)
        use = self._use
        must, self._must_look = self._must_look or (count > 0 and not self._is_exhausted), False
        wanted = Wanted(
            self._library, self.rater, use.rules, frozenset(known), count, must, use.max_age, use.awaited_step
        )
        self._workspace.read(partial(look, wanted=wanted), partial(self._take, count), self._not_read)

    def reorder(self) -> None:
        """Let the queue order the groups at hand anew, such as when an update begins to wait for some."""
        self._ready.clear()
        self._look_anew()

    def _look_anew(self) -> None:
        self._must_look = True
        self.look()

    def _take(self, wanted: int, looked: Looked | None) -> None:
        if looked is not None and looked.library is not self._library:  # another run, or another rater, by now
            return
        self._is_reading = False
        if looked is not None:
            self._is_exhausted = len(looked.ready) < wanted
            self._take_found(looked)
        if self._must_read:
            self.look()

    def _take_found(self, looked: Looked) -> None:
        if not self._knows_given:
            self._knows_given = True
            self._given = [*_known(looked.given, self._given), *self._given]
        self._mark_used(looked.given)
        self._submitted -= {(one.event.group, one.event.is_repeat) for one in looked.given}
        self._drop_replaced()
        at_hand = {ready.key for ready in self._ready} | self._submitted
        if self.current is not None:
            at_hand.add(self.current.key)
        self._ready.extend(ready for ready in looked.ready if ready.key not in at_hand)
        self.picture = looked.picture
        self.looked.emit(looked.picture)
        if self.current is None and self._ready:
            self._show(self._ready.popleft())
        else:
            self.judged.emit()

    def _drop_replaced(self) -> None:
        """Take away groups of steps that are no more: the run was resumed from an earlier one."""
        last = self._library.newest_step + 1  # whose update may wait for ratings
        self._ready = deque(ready for ready in self._ready if ready.group.ref.step <= last)
        if self.current is not None and self.current.group.ref.step > last:
            self._show(None)

    def _not_read(self, failure: TaskFailure) -> None:
        self._is_reading = False
        self._workspace.problem.emit(failure.message, failure.traceback)

    def _mark_used(self, stored: tuple[StoredRating, ...]) -> None:
        by_id = {one.id: one for one in stored}
        for given in self._given:
            one = by_id.get(given.rating_id or 0)
            if one is not None:
                given.used_step, given.expired_step = one.used_step, one.expired_step

    # --- what a person does

    def press(self, key: str) -> Outcome:
        """Take a key by its name; `Outcome.NOTE` is left to the view."""
        if self.session is None:
            if key == "Backspace":
                self.take_back()
            return Outcome.IGNORED
        return self._follow(self.session.press(key))

    def click(self, card: int) -> None:
        """A click on a card."""
        if self.session is not None:
            self._follow(self.session.click(card))

    def score(self, card: int, value: int) -> None:
        """A click on one of the five scores of a card."""
        if self.session is not None:
            self.session.draft.score(card, value)
            self._follow(Outcome.CHANGED)

    def flag(self, card: int, tag: str) -> None:
        """A reason chosen from a card's menu."""
        if self.session is not None:
            self.session.flag(card, tag)
            self._follow(Outcome.CHANGED)

    def annotate(self, note: str) -> None:
        """Keep a note with the rating."""
        if self.session is not None:
            self.session.draft.annotate(note.strip())
            self._follow(Outcome.CHANGED)

    def judge_by(self, how: JudgeBy) -> None:
        """Judge this group and the next ones another way."""
        self.how = how
        if self.session is not None:
            self.session.draft.judge_by(how)
        self.judged.emit()

    def take_back(self) -> None:
        """Take the newest rating back and show its group again, as it was said."""
        if not self._given:
            return
        given = self._given.pop()
        self._put_aside()
        self.opened = None
        self.writing.take_back(given)
        if given.ready is not None:
            self._show_again(given, given.ready)
            return
        self._show(None)
        again = partial(ready_again, library=self._library, event=given.event)
        self._workspace.read(again, partial(self._show_again, given))

    def _follow(self, outcome: Outcome) -> Outcome:
        if self._first_key_s is None and outcome is not Outcome.IGNORED:
            self._first_key_s = time.time()
        match outcome:
            case Outcome.SUBMIT | Outcome.SKIP:
                self._submit(skipped=outcome is Outcome.SKIP)
            case Outcome.TAKE_BACK:
                self.take_back()
            case Outcome.CHANGED:
                self.judged.emit()
        return outcome

    def _submit(self, *, skipped: bool) -> None:
        ready, session = self.current, self.session
        if ready is None or session is None:
            return
        showing = Showing(
            ready.group.ref,
            self.rater,
            ready.reason,
            ready.is_repeat,
            ready.is_audit,
            self._shown_s,
            self._first_key_s,
        )
        event = rating_event(showing, session.layout, session.draft, time.time(), skipped=skipped)
        given = Given(event, ready)
        self._given.append(given)
        self._submitted.add(ready.key)
        self.opened = None if skipped else opened_group(event, ready, session.draft)
        self._show(self._ready.popleft() if self._ready else None)
        self.writing.keep(given)

    # --- showing

    def _show(self, ready: Ready | None) -> None:
        self.current, self.notice = ready, ""
        self.session = None if ready is None else RatingSession(ready.layout, self.how)
        self._shown_s, self._first_key_s = time.time(), None
        self.shown.emit()

    def _show_again(self, given: Given, ready: Ready | None) -> None:
        if ready is None or given.event.group.run_id != self.run_id:
            return
        self._put_aside()
        ready = blind_no_more(ready, given.event)
        states = states_of(given.event, ready.layout)
        self.how = states[-1].judge_by
        is_settled = given.used_step is not None or given.expired_step is not None
        self.current = ready
        sentences = [editing_sentence(given.used_step, given.expired_step)] if is_settled else []
        self.notice = " ".join([*sentences, OPENED] if given.event.is_audit and not ready.is_audit else sentences)
        self.session = RatingSession(ready.layout, self.how)
        self.session.draft.restore(states)
        self._shown_s, self._first_key_s = time.time(), None
        self.shown.emit()

    def _put_aside(self) -> None:
        """The group on screen comes back after the one that is shown in between."""
        if self.current is not None:
            self._ready.appendleft(self.current)
            self.current = self.session = None

    # --- what became of the writing

    def _stored(self) -> None:
        self.stored.emit()
        if len(self._ready) <= AT_HAND // 2:
            # The next group is painted first: reading beside it would take the interpreter away from the painting.
            QTimer.singleShot(_AFTER_PAINTING_MS if self._ready else 0, self, self.look)

    def _refused(self, given: Given) -> None:
        """A rating that the disk did not take comes back to be rated."""
        if given in self._given:
            self._given.remove(given)
        if given.ready is None or given.event.group.run_id != self.run_id:
            return
        self._submitted.discard(given.ready.key)
        self._put_aside()
        self.opened = None
        self._show(given.ready)


def blind_no_more(ready: Ready, event: RatingEvent) -> Ready:
    """A group that was opened after its rating: rated again it says nothing fair about the program's rewards."""
    return ready if event.mode == SKIP else replace(ready, is_audit=False)


def _known(stored: tuple[StoredRating, ...], here: list[Given]) -> list[Given]:
    """The entries that the store had before those that were given here."""
    mine = {(given.event.group, given.event.submitted_s) for given in here}
    return [Given(one.event, None, one.id) for one in stored if (one.event.group, one.event.submitted_s) not in mine]
