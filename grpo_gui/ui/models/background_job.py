"""A long piece of work beside the GUI thread that tells how far it is and can be cancelled."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from grpo_gui.ui.background_tasks import TaskFailure

T = TypeVar("T")


class JobSignals(QObject):
    """What a job tells, on the GUI thread."""

    progressed = Signal(int, int)  # done, total
    ended = Signal()


class BackgroundJob(Generic[T]):
    """One job. Hand `progress` and `cancelled` to the work; `done` and `failed` to the runner of tasks."""

    def __init__(self, words: str, done: Callable[[T], None], failed: Callable[[TaskFailure], None]) -> None:
        self.words = words
        self.signals = JobSignals()
        self._tell_done, self._tell_failed = done, failed
        self._cancel = threading.Event()

    def progress(self, done: int, total: int) -> None:
        """Tell from the worker how far it is."""
        self.signals.progressed.emit(done, total)

    def cancelled(self) -> bool:
        """True once it shall stop."""
        return self._cancel.is_set()

    def cancel(self) -> None:
        """Ask the work to stop; it ends soon."""
        self._cancel.set()

    def done(self, result: T) -> None:
        """The work came to its end."""
        self.signals.ended.emit()
        self._tell_done(result)

    def failed(self, failure: TaskFailure) -> None:
        """The work failed."""
        self.signals.ended.emit()
        self._tell_failed(failure)
