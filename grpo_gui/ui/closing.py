"""Closing the window while it trains: stop, keep training in the background, or stay."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from grpo_gui.commands import Stop
from grpo_gui.events import RunStatus
from grpo_gui.ui.run_text import run_title
from grpo_gui.ui.workspace import Workspace


class CloseGuard(QObject):
    """Asks, and waits without blocking until the trainer has saved its state; `may_close` then."""

    may_close = Signal()

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._window = workspace, window
        self._waits_for = ""  # stop, hand over
        workspace.handle_changed.connect(self._trainer_changed)
        workspace.handed_over.connect(self._handed_over)
        workspace.problem.connect(self._failed)

    @property
    def is_waiting(self) -> bool:
        """True while the window closes by itself as soon as the trainer has ended."""
        return bool(self._waits_for)

    def asks(self) -> bool:
        """Ask when a run would be cut off; True while the window must stay open for now."""
        workspace = self._workspace
        if not (workspace.is_training or workspace.is_starting):
            return self._waits_for == "hand over"
        choice = self._ask_again() if self._waits_for else self._ask()
        if choice == "stop":
            self._waits_for = "stop"
            workspace.post(Stop())
        elif choice == "hand over":
            self._waits_for = "hand over"
            workspace.hand_over()
        return choice != "leave"

    def _ask(self) -> str:
        run = self._workspace.trained_run
        title = "A run is starting" if run is None else f"{run_title(run)} is training"
        box = QMessageBox(QMessageBox.Icon.NoIcon, "Close the window", f"{title}.", parent=self._window)
        box.setInformativeText(
            "Its state is saved either way. In the background it goes on in a process of its own; "
            "the window shows it again when it is opened."
        )
        stop = box.addButton("Stop training", QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton("Keep training in the background", QMessageBox.ButtonRole.AcceptRole)
        keep.setEnabled(run is not None and run.steps_done > 0)
        keep.setToolTip("" if keep.isEnabled() else "Possible once the first step is done.")
        cancel = box.addButton(QMessageBox.StandardButton.Cancel)
        keep.setProperty("look", "primary")
        box.setDefaultButton(keep if keep.isEnabled() else cancel)
        box.setEscapeButton(cancel)
        box.exec()
        clicked = box.clickedButton()
        return "stop" if clicked is stop else "hand over" if clicked is keep else "stay"

    def _ask_again(self) -> str:
        box = QMessageBox(
            QMessageBox.Icon.NoIcon,
            "Close the window",
            "The trainer is still saving its state.",
            parent=self._window,
        )
        box.setInformativeText("Closing now keeps everything up to the last saved state and the last stored step.")
        leave = box.addButton("Close now", QMessageBox.ButtonRole.DestructiveRole)
        box.addButton("Wait", QMessageBox.ButtonRole.RejectRole)
        box.exec()
        return "leave" if box.clickedButton() is leave else "stay"

    def _trainer_changed(self) -> None:
        status = self._workspace.status
        if not self._waits_for or self._workspace.is_training or self._workspace.is_starting:
            return
        if self._waits_for == "hand over" and status is not None and status.status is RunStatus.HANDED_OVER:
            return  # the background process is being started; otherwise the run ended before it could be handed over
        self._waits_for = ""
        self.may_close.emit()

    def _handed_over(self, _run_id: int) -> None:
        if self._waits_for == "hand over":
            self._waits_for = ""
            self.may_close.emit()

    def _failed(self, _message: str, _details: str) -> None:
        """The background process did not start: stay, so that the message is read and the run can be continued."""
        if not self._workspace.is_training:
            self._waits_for = ""
