"""What a new finding sets off: a desktop notification, and a pause where the user switched that on."""

import logging
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from grpo_gui.commands import Pause
from grpo_gui.diagnose.finding import Finding
from grpo_gui.diagnose.reading import Severity
from grpo_gui.events import RunStatus
from grpo_gui.ui import icons
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.workspace import Workspace

logger = logging.getLogger(__name__)

SHOWN_MS = 10_000
NO_TRAY = "This desktop has no tray, so its messages cannot be used; the task bar is asked to blink instead."


class Notifier(Protocol):
    """Tells a person who looks elsewhere."""

    def notify(self, title: str, text: str, opened: Callable[[], None]) -> None:
        """Show a message; `opened` is called when it is clicked."""


class DesktopNotifier(QObject):
    """The desktop's own messages, by way of a tray icon that stays only as long as they do."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._icon: QSystemTrayIcon | None = None
        self._opened: Callable[[], None] | None = None
        self._has_told = False
        self._hide = QTimer(self)
        self._hide.setSingleShot(True)
        self._hide.setInterval(2 * SHOWN_MS)
        self._hide.timeout.connect(self._end)

    def notify(self, title: str, text: str, opened: Callable[[], None]) -> None:
        """Show a message where the desktop can; the task bar blinks in any case."""
        QApplication.alert(self._window)
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            if not self._has_told:
                self._has_told = True
                logger.info("%s", NO_TRAY)
            return
        if self._icon is None:
            self._icon = QSystemTrayIcon(icons.icon("warning", "warn"), self)
            self._icon.messageClicked.connect(self._message_clicked)
        self._opened = opened
        self._icon.show()
        self._icon.showMessage(title, text, QSystemTrayIcon.MessageIcon.Warning, SHOWN_MS)
        self._hide.start()

    def _message_clicked(self) -> None:
        if self._opened is not None:
            self._opened()
        self._end()

    def _end(self) -> None:
        if self._icon is not None:
            self._icon.hide()


class Alerts(QObject):
    """Listens to the watch for as long as the window lives."""

    def __init__(self, workspace: Workspace, watch: HealthWatch, window: QWidget, notifier: Notifier) -> None:
        super().__init__(window)
        self._workspace, self._window, self._notifier = workspace, window, notifier
        watch.found.connect(self._found)

    def _found(self, run_id: int, finding: Finding) -> None:
        if finding.pauses and self._workspace.settings.pause_on_broken:
            self._pause(run_id, finding)
        if finding.severity is Severity.SEVERE and not self._window.isActiveWindow():
            title = f"{finding.title} (run {run_id}, step {finding.noticed})"
            self._notifier.notify(title, finding.headline, lambda: self._show(run_id, finding.detector))

    def _pause(self, run_id: int, finding: Finding) -> None:
        workspace = self._workspace
        reached = workspace.trained_run if workspace.is_training else workspace.run
        if reached is None or reached.id != run_id or workspace.transport_status is not RunStatus.RUNNING:
            return
        workspace.post(Pause())
        sentence = f"The run was paused, as the settings say: {finding.title.lower()}. {finding.headline}"
        workspace.problem.emit(sentence, "")

    def _show(self, run_id: int, detector: str) -> None:
        self._window.showNormal() if self._window.isMinimized() else self._window.show()
        self._window.raise_()
        self._window.activateWindow()
        if self._workspace.run is None or self._workspace.run.id != run_id:
            self._workspace.select_run(run_id)
        self._workspace.view_requested.emit("train")
        self._workspace.finding_asked.emit(detector)
