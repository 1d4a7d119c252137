"""The tool bar's progress: step n of N with the time left, or where the selected run ended."""

from collections import deque

from PySide6.QtWidgets import QGridLayout, QProgressBar, QSizePolicy, QWidget

from grpo_gui.events import Event, RunStatus, StepCompleted
from grpo_gui.store.records import RunRecord
from grpo_gui.training.rating_rules import awaited_step
from grpo_gui.ui import theme
from grpo_gui.ui.formatting import count, duration
from grpo_gui.ui.run_config import planned_steps, total_steps
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.workspace import Workspace

RECENT_STEPS = 20

_SENTENCES = {
    RunStatus.FINISHED: "finished at step {0}",
    RunStatus.STOPPED: "stopped at step {0}",
    RunStatus.FAILED: "failed at step {0}",
    RunStatus.INTERRUPTED: "interrupted at step {0}",
    RunStatus.HANDED_OVER: "handed over at step {0}",
}


class Progress(QWidget):
    """Follows the run that trains, else the selected one."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT_STEPS)  # (step, seconds)
        self._recent_run = 0
        self.place = label("", "value")
        self.left = label("", "small", "Time left at the pace of the last 20 steps.")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress of the run")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 16, 0)
        grid.setVerticalSpacing(3)
        grid.addWidget(self.place, 0, 0)
        grid.addWidget(self.left, 0, 1)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self.bar, 1, 0, 1, 2)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(theme.px(200))
        workspace.all_events.connect(self._take)
        workspace.run_selected.connect(self._refresh)
        workspace.run_updated.connect(self._refresh)
        workspace.handle_changed.connect(self._refresh)
        workspace.status_changed.connect(self._refresh)
        self._refresh()

    def time_left_s(self, total: int) -> float | None:
        """Return the seconds left at the recent pace; None before two steps are done."""
        if len(self._recent) < 2:
            return None
        (first, start), (last, end) = self._recent[0], self._recent[-1]
        return (total - last) * (end - start) / (last - first) if last > first else None

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, StepCompleted):
                if event.run_id != self._recent_run:
                    self._recent.clear()
                    self._recent_run = event.run_id
                self._recent.append((event.step, event.time_s))
        self._refresh()

    def _refresh(self) -> None:
        run = self._workspace.trained_run or self._workspace.run
        active = run is not None and run.status.is_active
        self.bar.setVisible(active)
        self.left.setVisible(active)
        if run is None:
            self.place.setText("")
            return
        if not active:
            self.place.setText(_SENTENCES[run.status].format(count(run.steps_done)))
            return
        planned, total = planned_steps(run), total_steps(run)
        self.bar.setVisible(planned is not None)
        self.bar.setRange(0, max(total, 1))
        self.bar.setValue(run.steps_done)
        self.place.setText(_place(run, planned))
        self.left.setText(self._left(run, total))

    def _left(self, run: RunRecord, total: int) -> str:
        if run.status is RunStatus.WAITING and awaited_step(run.message) is not None:
            return "for ratings"
        if run.status is not RunStatus.RUNNING:
            return ""
        if run.id != self._recent_run:
            elsewhere = "followed" if run.origin == "followed" else "in the background"
            return elsewhere if run is not self._workspace.trained_run else ""
        seconds = self.time_left_s(total)
        return "" if seconds is None else f"{duration(seconds)} left"


def _place(run: RunRecord, planned: int | None) -> str:
    step = f"step {count(run.steps_done)}" + ("" if planned is None else f" of {count(planned)}")
    match run.status:
        case RunStatus.WARMING_UP:
            return "warming up\u2026"
        case RunStatus.PAUSED:
            return f"paused at {step}"
        case RunStatus.WAITING:
            return f"waiting at {step}"
        case _:
            return step
