"""Keeps ratings one after the other, in the order in which they were given."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from grpo_gui.rating_events import RatingEvent
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.rating_queue import Ready
from grpo_gui.ui.models.rating_record import taking_back
from grpo_gui.ui.workspace import Workspace


@dataclass(eq=False, slots=True)
class Given:
    """An entry that can be taken back; `rating_id` is None until it is stored."""

    event: RatingEvent
    ready: Ready | None  # its group, when it was rated in this window
    rating_id: int | None = None
    used_step: int | None = None
    expired_step: int | None = None


class RatingWriter(QObject):
    """`stored` after each entry; `refused` with the `Given` that could not be stored."""

    stored = Signal()
    refused = Signal(object)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._waiting: deque[tuple[Callable[[], RatingEvent | None], Given | None]] = deque()
        self._is_writing = False

    @property
    def is_idle(self) -> bool:
        """True when every entry has reached the database."""
        return not self._is_writing and not self._waiting

    def keep(self, given: Given) -> None:
        """Append an entry."""
        self._waiting.append((lambda: given.event, given))
        self._write_next()

    def take_back(self, given: Given) -> None:
        """Append an entry that takes another one back, once that one is stored."""
        self._waiting.append((partial(_taking_back, given), None))
        self._write_next()

    def _write_next(self) -> None:
        while self._waiting and not self._is_writing:
            make, given = self._waiting.popleft()
            event = make()
            if event is not None:
                self._is_writing = True
                self._write(event, given)

    def _write(self, event: RatingEvent, given: Given | None) -> None:
        done, failed = partial(self._written, given), partial(self._not_written, given)
        self._workspace.write(lambda writer: writer.rate_group(event), done, failed)

    def _written(self, given: Given | None, rating_id: int) -> None:
        self._is_writing = False
        if given is not None:
            given.rating_id = rating_id
        self._write_next()
        self.stored.emit()

    def _not_written(self, given: Given | None, failure: TaskFailure) -> None:
        self._is_writing = False
        self._workspace.problem.emit(failure.message, failure.traceback)
        self._write_next()
        if given is not None:
            self.refused.emit(given)


def _taking_back(given: Given) -> RatingEvent | None:
    """The entry that takes another one back; None when that one was never stored."""
    return None if given.rating_id is None else taking_back(given.rating_id, given.event, time.time())
