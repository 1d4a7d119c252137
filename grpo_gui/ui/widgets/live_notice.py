"""Decides what happens when a running trainer adds steps: taken in at the top, or announced by a pill."""

from PySide6.QtCore import QObject, QTimer, Signal

FOLLOW_INTERVAL_MS = 500  # the list is read anew at most this often


class LiveNotice(QObject):
    """Compares the newest step of the run with the newest step of the list.

    While the list is followed, `wanted` asks for the new steps, at most every FOLLOW_INTERVAL_MS, again and
    again until they are in (the store commits a step a little after its event). Otherwise `waiting` tells how
    many steps are not in the list.
    """

    wanted = Signal()
    waiting = Signal(int)  # new steps; 0: nothing to announce

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._newest = 0
        self._seen = 0
        self._is_following = True
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FOLLOW_INTERVAL_MS)
        self._timer.timeout.connect(self._ask)

    def reset(self, newest: int) -> None:
        """Start with another run, whose newest step is known."""
        self._newest, self._seen = newest, 0
        self._timer.stop()
        self.waiting.emit(0)

    def run_is_at(self, step: int) -> None:
        """The run has done this many steps."""
        self._newest = step
        self._decide()

    def list_is_at(self, step: int) -> None:
        """The list holds everything up to this step."""
        self._seen = step
        self._decide()

    def follow(self, is_following: bool) -> None:
        """Follow only while the newest is on top and the top is in view."""
        if is_following != self._is_following:
            self._is_following = is_following
            self._decide()

    def pause(self) -> None:
        """Ask for nothing while the list is hidden; `run_is_at` starts it again."""
        self._timer.stop()

    def _decide(self) -> None:
        behind = max(0, self._newest - self._seen)
        self.waiting.emit(0 if self._is_following else behind)
        if not behind or not self._is_following:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def _ask(self) -> None:
        self.wanted.emit()
