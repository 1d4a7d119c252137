"""Says that a snapshot asked for by hand is on its way, and when it is saved."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from grpo_gui.events import Event, SnapshotSaved
from grpo_gui.ui.formatting import count
from grpo_gui.ui.transport import Transport
from grpo_gui.ui.widgets.job_strip import JobStrip
from grpo_gui.ui.workspace import Workspace

BY_HAND = "hand"


class SnapshotNotice(QObject):
    """Speaks through the strip; `show_snapshots` is what its link does."""

    def __init__(
        self, workspace: Workspace, transport: Transport, strip: JobStrip, show_snapshots: Callable[[], None]
    ) -> None:
        super().__init__(strip)
        self._strip, self._show = strip, show_snapshots
        transport.snapshot.triggered.connect(self._asked)
        workspace.all_events.connect(self._take)

    def _asked(self) -> None:
        self._tell("A snapshot is made after the step at hand.")

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, SnapshotSaved) and event.reason == BY_HAND:
                self._tell(f"The snapshot of step {count(event.step)} is saved and kept until you delete it.")

    def _tell(self, sentence: str) -> None:
        self._strip.tell(sentence, "Show snapshots", self._show)
