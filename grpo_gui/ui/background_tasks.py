"""Runs functions off the GUI thread and calls back on it. The one place of the window that catches everything."""

import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal

from grpo_gui.errors import GrpoGuiError

_BUG = "A background task failed ({0!r}); the log holds the details, please report them."

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class TaskFailure:
    """Why a task failed: `message` for people; `traceback` is empty when the world failed, filled for a bug."""

    message: str
    traceback: str


@dataclass(slots=True)
class _Task(Generic[R]):
    function: Callable[[R], object]
    done: Callable[[object], None]
    failed: Callable[[TaskFailure], None]
    key: str
    number: int
    result: object = None
    failure: TaskFailure | None = field(default=None)


class BackgroundTasks(QObject, Generic[R]):
    """A few worker threads, each with a resource of its own (a database reader) made by `open_resource`.

    Results come back on the GUI thread. Of tasks with the same key only the newest is run and delivered.
    """

    _finished = Signal(object)
    busy_changed = Signal(bool)

    def __init__(self, open_resource: Callable[[], R], close_resource: Callable[[R], None], workers: int = 2) -> None:
        super().__init__()
        self._open, self._close = open_resource, close_resource
        self._queue: queue.SimpleQueue[_Task[R] | None] = queue.SimpleQueue()
        self._newest: dict[str, int] = {}
        self._count = 0
        self._waiting = 0
        self._closed = False
        self._finished.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._threads = [
            threading.Thread(target=self._work, name=f"background-{number}", daemon=True) for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def run(
        self,
        function: Callable[[R], T],
        done: Callable[[T], None],
        failed: Callable[[TaskFailure], None],
        key: str = "",
    ) -> None:
        """Queue `function`; exactly one of `done` and `failed` is called later, unless a newer task has its key."""
        self._count += 1
        if key:
            self._newest[key] = self._count
        self._waiting += 1
        if self._waiting == 1:
            self.busy_changed.emit(True)
        self._queue.put(_Task(function, done, failed, key, self._count))  # type: ignore[arg-type]  # `done` takes what `function` gives

    def is_idle(self) -> bool:
        """True when every result was delivered."""
        return self._waiting == 0

    def close(self, timeout_s: float = 5.0) -> bool:
        """End the workers; results that are still under way are dropped. True if all ended in time."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        resource: R | None = None
        while (task := self._queue.get()) is not None:
            if not self._closed and not self._is_stale(task):
                try:
                    if resource is None:
                        resource = self._open()
                    task.result = task.function(resource)
                except GrpoGuiError as error:
                    task.failure = TaskFailure(str(error), "")
                except Exception as error:  # noqa: BLE001  # one of the three places: a bug must not end the worker
                    task.failure = TaskFailure(_BUG.format(error), traceback.format_exc())
            if not self._closed:
                self._finished.emit(task)
            del task  # what it holds must be destroyed on the GUI thread
        if resource is not None:
            self._close(resource)

    def _is_stale(self, task: _Task[R]) -> bool:
        return bool(task.key) and self._newest.get(task.key) != task.number

    def _deliver(self, task: _Task[R]) -> None:
        self._waiting -= 1
        if self._waiting == 0:
            self.busy_changed.emit(False)
        if self._closed or self._is_stale(task):
            return
        if task.failure is not None:
            if _is_alive(task.failed):
                task.failed(task.failure)
        elif _is_alive(task.done):
            task.done(task.result)


def _is_alive(callback: Callable[..., None]) -> bool:
    """False for a method of a widget that Qt has already destroyed."""
    owner = getattr(callback, "__self__", None)
    return not isinstance(owner, QObject) or shiboken6.isValid(owner)
