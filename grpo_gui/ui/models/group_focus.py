"""Which group of which step is shown: the newest while following, or a held one."""

from functools import partial

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRef
from grpo_gui.ui.models.shown_step import ShownStep, of_records
from grpo_gui.ui.workspace import Workspace

_SHOW_MS = 400  # a new group at most this often: faster cannot be read


class GroupFocus(QObject):
    """The shown step with its chosen group. While `held`, newer steps go by."""

    changed = Signal()  # another step, group, or none
    held_changed = Signal(bool)
    missing = Signal(int)  # a step whose groups the store does not have

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.step: ShownStep | None = None
        self.place = 0  # of the chosen group
        self.completion: int | None = None  # index of the one that was asked for, until another group is shown
        self.held = False
        self._workspace = workspace
        self._newest: ShownStep | None = None
        self._since_shown = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._show_newest)

    @property
    def ref(self) -> GroupRef | None:
        """The address of the chosen group."""
        return self.step.ref(self.place) if self.step is not None else None

    def clear(self) -> None:
        """Show nothing and follow again, for another run."""
        self.step, self._newest, self.place = None, None, 0
        self._timer.stop()
        self._set_held(False)
        self.changed.emit()

    def offer(self, newest: ShownStep) -> None:
        """Show the newest step unless one is held; not more often than can be read."""
        self._newest = newest
        if self.held or self._timer.isActive():
            return
        passed = self._since_shown.elapsed() if self._since_shown.isValid() else _SHOW_MS
        self._timer.start(max(_SHOW_MS - passed, 0))

    def show_step(self, step: int, group_index: int | None = None, completion: int | None = None) -> None:
        """Read a step from the store, show it and hold it; the indices choose a group and a completion of it."""
        if self._workspace.run is None:
            return
        self.completion = completion
        run_id = self._workspace.run.id
        if self.step is not None and (self.step.run_id, self.step.step) == (run_id, step):
            self._show(self.step, group_index, hold=True)
            return
        reading = partial(_read_step, run_id=run_id, step=step)
        self._workspace.read(reading, partial(self._take_step, group_index=group_index), key="train.step")

    def choose(self, place: int) -> None:
        """Choose another group of the shown step, and hold it."""
        if self.step is not None:
            self.place, self.completion = place, None
            self._set_held(True)
            self.changed.emit()

    def set_held(self, held: bool) -> None:
        """Pin what is shown, or go back to the newest step."""
        self._set_held(held)
        if not held:
            self._show_newest()
        else:
            self.changed.emit()

    def _take_step(self, shown: ShownStep, group_index: int | None) -> None:
        if self._workspace.run is None or shown.run_id != self._workspace.run.id:
            return
        if shown.groups:
            self._show(shown, group_index, hold=True)
        else:
            self.missing.emit(shown.step)

    def _show_newest(self) -> None:
        if self._newest is not None and not self.held:
            self.completion = None
            self._show(self._newest, None, hold=False)

    def _show(self, step: ShownStep, group_index: int | None, *, hold: bool) -> None:
        self.step = step
        places = [place for place, group in enumerate(step.groups) if group.index == group_index]
        self.place = places[0] if places else step.most_telling()
        self._since_shown.restart()
        self._set_held(hold)
        self.changed.emit()

    def _set_held(self, held: bool) -> None:
        if held != self.held:
            self.held = held
            self.held_changed.emit(held)


def _read_step(reader: StoreReader, run_id: int, step: int) -> ShownStep:
    return of_records(run_id, step, reader.groups_of_step(run_id, step))
