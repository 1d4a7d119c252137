"""The actions that start and steer a trainer, with when each of them works."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox

from grpo_gui.commands import Pause, Resume, SaveSnapshot, Step, Stop
from grpo_gui.events import RunStatus
from grpo_gui.store.records import RunRecord
from grpo_gui.ui import icons
from grpo_gui.ui.run_text import is_continuable
from grpo_gui.ui.workspace import Workspace


class Transport(QObject):
    """Start, pause, step, stop: they act on the trainer of this window, else on the selected run's process."""

    start_requested = Signal(bool)  # start what the form holds; True: only one step

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._form_is_open = False
        self._form_is_valid = False
        self.start = self._action("Start", "start", self._start)
        self.pause = self._action("Pause", "pause", self._pause)
        self.step = self._action("Step", "step", self._step)
        self.stop = self._action("Stop", "stop", self._stop)
        self.snapshot = self._action("Snapshot", "snapshot", lambda: workspace.post(SaveSnapshot()))
        self.snapshot.setShortcut(QKeySequence("Ctrl+S"))
        self.snapshot.setToolTip("Keep the weights after the step at hand as a model that other tools load (Ctrl+S).")
        self.background = self._action("Keep training in the background", "", workspace.hand_over)
        self.background.setToolTip("Save the state and go on in a process of its own that survives this window.")
        self.step.setShortcut(QKeySequence("."))
        self.stop.setToolTip("End the run after the piece of work at hand. Its state is saved; it can be continued.")
        for signal in (workspace.handle_changed, workspace.status_changed, workspace.run_updated):
            signal.connect(self.refresh)
        self.refresh()

    def set_form(self, *, is_open: bool, is_valid: bool) -> None:
        """Tell whether the run form is on screen and can be started."""
        self._form_is_open, self._form_is_valid = is_open, is_valid
        self.refresh()

    def refresh(self) -> None:
        """Enable what works now."""
        status = self._workspace.transport_status
        idle = not (self._workspace.is_training or self._workspace.is_starting)
        free = idle and status is None
        continuable = self.continuable_run() is not None and not self._form_is_open
        self.start.setText("Continue" if continuable else "Start")
        self.start.setEnabled(idle and (free or self._form_is_open) and (self._form_is_valid or not self._form_is_open))
        self.start.setToolTip(_start_tooltip(continuable=continuable, form=self._form_is_open))
        is_paused = status is RunStatus.PAUSED
        self.pause.setText("Resume" if is_paused else "Pause")
        self.pause.setToolTip("Go on (Space)." if is_paused else "Pause after the piece of work at hand (Space).")
        icons.set_action_icon(self.pause, "resume" if is_paused else "pause")
        self.pause.setEnabled(status is not None)
        self.step.setEnabled(is_paused or (free and self._form_is_open and self._form_is_valid))
        self.step.setToolTip("Do one step, then pause (.).")
        self.stop.setEnabled(status is not None)
        self.snapshot.setEnabled(status is not None)
        self.background.setEnabled(self._workspace.is_training)

    def continuable_run(self) -> RunRecord | None:
        """Return the selected run where it ended early with a saved state."""
        run, config = self._workspace.run, self._workspace.selected_config()
        return run if config is not None and is_continuable(run, config.steps) else None

    def toggle_pause(self) -> None:
        """Pause or resume, as the space bar does; a focused button or list gets the space bar instead."""
        focus = QApplication.focusWidget()
        if isinstance(focus, QAbstractButton):
            focus.click()
        elif isinstance(focus, QComboBox):
            focus.showPopup()
        elif self.pause.isEnabled():
            self._pause()

    def _action(self, text: str, icon: str, function: object) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(function)
        if icon:
            icons.set_action_icon(action, icon)
        return action

    def _start(self) -> None:
        run = self.continuable_run()
        if self._form_is_open:
            self.start_requested.emit(False)
        elif run is not None:
            self._workspace.resume_run(run)
        else:
            self._workspace.new_run_requested.emit()

    def _pause(self) -> None:
        paused = self._workspace.transport_status is RunStatus.PAUSED
        self._workspace.post(Resume() if paused else Pause())

    def _step(self) -> None:
        if self._workspace.transport_status is RunStatus.PAUSED:
            self._workspace.post(Step())
        else:
            self.start_requested.emit(True)

    def _stop(self) -> None:
        self._workspace.post(Stop())


def _start_tooltip(*, continuable: bool, form: bool) -> str:
    if form:
        return "Start the run that the form describes (Enter in the form)."
    return "Go on with this run from its saved state." if continuable else "Set up a new run (Ctrl+N)."
