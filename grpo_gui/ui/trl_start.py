"""Hands a run of the form over to TRL, shows it, and shows the commands that people must type."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from grpo_gui.handover.placement import Placement
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.widgets.command_dialog import CommandDialog
from grpo_gui.ui.workspace import Workspace


class HandedOver(NamedTuple):
    """A run that TRL trains; `commands` are to be typed on the machines, none when that is done already."""

    run_id: int
    commands: tuple[str, ...]


HandOver = Callable[[TrainConfig, Placement, str, Callable[[HandedOver], None], Callable[[TaskFailure], None]], None]


class TrlStart(QObject):
    """`changed` when `is_starting` did."""

    changed = Signal()

    def __init__(self, workspace: Workspace, hand_over: HandOver, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._hand_over, self._window = workspace, hand_over, window
        self.is_starting = False
        self.dialog: CommandDialog | None = None

    def start(self, config: TrainConfig, place: Placement, accelerate: str) -> None:
        """Begin; the run is selected once its process lives."""
        self.is_starting = True
        self.changed.emit()
        self._hand_over(config, place, accelerate, self._started, self._failed)

    def _started(self, run: HandedOver) -> None:
        self.is_starting = False
        self.changed.emit()
        self._workspace.refresh_runs()
        self._workspace.select_run(run.run_id)
        if run.commands:
            self.dialog = CommandDialog(self._window, run.commands)
            self.dialog.open()

    def _failed(self, failure: TaskFailure) -> None:
        self.is_starting = False
        self.changed.emit()
        self._workspace.problem.emit(failure.message, failure.traceback)
