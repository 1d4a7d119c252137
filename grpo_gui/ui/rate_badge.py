"""The number on the rail's Rate button: groups that wait for a person while a run learns from ratings."""

from PySide6.QtCore import QObject, QTimer

from grpo_gui.store.reader import StoreReader
from grpo_gui.ui.models.rating_desk import DEFAULT_RATER
from grpo_gui.ui.models.rating_queue import RatingLibrary
from grpo_gui.ui.models.rating_use import RatingUse
from grpo_gui.ui.rail import Rail
from grpo_gui.ui.workspace import Workspace

_INTERVAL_MS = 3_000
_NAME = "rate"


class RateBadge(QObject):
    """Counts only for runs that are trained and have ratings as a reward: else nobody is awaited."""

    def __init__(self, workspace: Workspace, rail: Rail) -> None:
        super().__init__(rail)
        self._workspace, self._rail = workspace, rail
        self._use = RatingUse(workspace)
        self._library = RatingLibrary(0)
        self._is_reading = False
        self._count: int | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.read)
        self._use.changed.connect(self._changed)
        workspace.run_updated.connect(self._changed)
        self._changed()

    def read(self) -> None:
        """Count again."""
        if self._is_reading or not self._is_awaited:
            return
        self._is_reading = True
        library, max_age, step = self._library, self._use.max_age, self._use.awaited_step
        rater = self._workspace.settings.rater or DEFAULT_RATER

        known = self._count

        def work(reader: StoreReader) -> tuple[int, int]:
            if not library.read_on(reader) and known is not None:
                return library.run_id, known
            return library.run_id, len(library.queue(rater, max_age, step).unrated)

        self._workspace.read(work, self._take, lambda _: self._show(0))

    @property
    def _is_awaited(self) -> bool:
        run = self._workspace.run
        return run is not None and run.status.is_active and self._use.has_human and self._use.rules.mode != "offline"

    def _changed(self) -> None:
        run_id = self._workspace.run.id if self._workspace.run is not None else 0
        if run_id != self._library.run_id:
            self._library, self._is_reading, self._count = RatingLibrary(run_id), False, None
        if self._is_awaited == self._timer.isActive():
            return
        if self._is_awaited:
            self._timer.start()
            self.read()
        else:
            self._timer.stop()
            self._show(0)

    def _take(self, answer: tuple[int, int]) -> None:
        run_id, count = answer
        if run_id == self._library.run_id:
            self._count = count
            self._show(count if self._is_awaited else 0)

    def _show(self, count: int) -> None:
        self._is_reading = False
        words = "group waits" if count == 1 else "groups wait"
        what = "; the update waits for them" if self._use.awaited_step is not None else ""
        self._rail.show_badge(_NAME, count, f"{count} {words} for your rating{what}.")
