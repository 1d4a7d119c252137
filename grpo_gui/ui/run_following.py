"""Follows runs that go on elsewhere while the window is open: a thread for each place."""

import threading
from functools import partial

from PySide6.QtCore import QObject, Signal

from grpo_gui.errors import GrpoGuiError
from grpo_gui.events import RunStatus
from grpo_gui.outside.following import Follower
from grpo_gui.outside.places import Place
from grpo_gui.outside.ssh_place import place_of
from grpo_gui.ui.engine import Writer
from grpo_gui.ui.workspace import Workspace

_END_S = 30.0  # the other machine's ssh may take that long to give up


class RunFollowing(QObject):
    """Begins and ends following; what becomes of a place is told on the GUI thread."""

    begun = Signal(str)  # name of the place: it is read from now on, and need not be there yet
    found = Signal(str, int)  # name, run id: the run is in the database and grows
    ended = Signal(str, object)  # name, RunStatus of a run that ended, None where following was ended

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._threads: dict[str, _FollowThread] = {}
        workspace.closing.connect(self.close)

    @property
    def names(self) -> tuple[str, ...]:
        """The places that are followed now."""
        return tuple(self._threads)

    def start(self, place: str) -> None:
        """Follow a path or ssh://host/path; a `problem` of the workspace says why it cannot be."""
        self._workspace.write(partial(_prepare, place), self._begin)

    def stop(self, name: str) -> None:
        """End following a place soon; `ended` follows."""
        if name in self._threads:
            self._threads[name].stop.set()

    def close(self) -> None:
        """End following every place, and wait for it: the writer is about to be closed."""
        for thread in self._threads.values():
            thread.stop.set()
        for thread in self._threads.values():
            thread.join(_END_S)
        self._threads.clear()

    def _begin(self, prepared: tuple[Writer, Place]) -> None:
        writer, place = prepared
        if place.name in self._threads:
            self._workspace.problem.emit(f"{place.name} is followed already.", "")
            return
        thread = _FollowThread(place, writer)
        thread.signals.found.connect(partial(self.found.emit, place.name))
        thread.signals.ended.connect(partial(self._ended, place.name))
        self._threads[place.name] = thread
        thread.start()
        self.begun.emit(place.name)

    def _ended(self, name: str, status: RunStatus | None, problem: str) -> None:
        thread = self._threads.pop(name, None)
        if thread is None:
            return  # the database was closed meanwhile
        thread.join(_END_S)
        if problem:
            self._workspace.problem.emit(problem, "")
        self.ended.emit(name, status)


class _FollowSignals(QObject):
    found = Signal(int)
    ended = Signal(object, str)


class _FollowThread(threading.Thread):
    """Reads one place until its run ends or `stop` is set."""

    def __init__(self, place: Place, writer: Writer) -> None:
        super().__init__(name=f"follow {place.name}", daemon=True)
        self.stop = threading.Event()
        self.signals = _FollowSignals()
        self._follower = Follower(place, writer)
        self._follower.said = self._said
        self._is_found = False

    def run(self) -> None:
        """Follow; another process that reads the place, a fault of the store or a missing package ends it."""
        status, problem = None, ""
        try:
            status = self._follower.run(self.stop)
        except GrpoGuiError as error:
            problem = f"{self._follower.place.name} is not followed: {error}"
        finally:  # after a bug of ours too, which the log tells: the place can be followed again
            self.signals.ended.emit(status, problem)

    def _said(self, status: str, step: int, message: str) -> None:  # noqa: ARG002  # what a Follower tells
        if not self._is_found and self._follower.run_id is not None:
            self._is_found = True
            self.signals.found.emit(self._follower.run_id)


def _prepare(text: str, writer: Writer) -> tuple[Writer, Place]:
    """The place, and the writer for its thread.

    Raises:
        BadInputError: it is no place.
    """
    return writer, place_of(text, writer.path)
