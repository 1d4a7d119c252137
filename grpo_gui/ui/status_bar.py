"""The status bar: device, torch, speed, how late the window runs, the database, and where the keys are explained."""

from collections import deque

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from grpo_gui.events import Event, RunStarted, RunStatus, StepCompleted, TrainerStatus
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.records import RunRecord
from grpo_gui.training.rating_rules import AWAITING
from grpo_gui.ui.formatting import count, number
from grpo_gui.ui.lateness import LatenessMeter
from grpo_gui.ui.view_list import all_keys
from grpo_gui.ui.widgets.buttons import link
from grpo_gui.ui.widgets.labels import label, set_look, vline
from grpo_gui.ui.workspace import Workspace

RECENT_STEPS = 20
REFRESH_MS = 500


class StatusBar(QStatusBar):
    """Each fact with a tooltip that defines it; facts that are not there yet take no room."""

    def __init__(self, workspace: Workspace, meter: LatenessMeter) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._workspace, self._meter = workspace, meter
        self._times: deque[float] = deque(maxlen=RECENT_STEPS)
        self._metrics: dict[str, float] = {}
        self._holder = QWidget()
        self._row = QHBoxLayout(self._holder)
        self._row.setContentsMargins(8, 0, 0, 0)
        self._row.setSpacing(8)
        self._facts: list[tuple[QWidget, QLabel]] = []
        self.device = self._fact("Where the policy is trained.")
        self.torch = self._fact("The library that trains; it loads after the window is on screen.")
        self.steps = self._fact("Steps per second over the last 20 steps.")
        self.tokens = self._fact(definition_of("tokens_per_second").tooltip)
        self.memory = self._fact("Memory of the graphics card that training holds now.")
        self.lateness = self._fact(
            "How late the window's event loop was: 95 of 100 recent ticks came at most this much after they were due. "
            "Above 16 ms a person sees it."
        )
        self.database = self._fact(str(workspace.database))
        self.completions = self._fact("Completions of the selected run that the database keeps.")
        self._row.addStretch(1)
        self.addWidget(self._holder, 1)
        self.keys = link("? keys", tooltip="Show all keys (?).")
        self.addPermanentWidget(self.keys)
        views = label(f"{all_keys()} views", "hint")
        views.setContentsMargins(0, 0, 12, 0)
        self.addPermanentWidget(views)
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._refresh_lateness)
        self._timer.start()
        workspace.all_events.connect(self._take)
        workspace.run_selected.connect(self._show_run)
        workspace.run_updated.connect(self._show_run)
        workspace.handle_changed.connect(self._refresh)
        workspace.torch_ready.connect(self._refresh)
        workspace.torch_failed.connect(lambda: self._set(self.torch, "torch failed to load", "bad"))
        workspace.runs_changed.connect(self._refresh)
        self._set(self.torch, "torch warming up\u2026")
        self._refresh()

    def _fact(self, tooltip: str) -> QLabel:
        line = vline()
        line.setFixedHeight(14)
        text = label("", "", tooltip)
        if self._facts:
            self._row.addWidget(line)
        self._row.addWidget(text)
        self._facts.append((line, text))
        return text

    def _set(self, fact: QLabel, text: str, look: str = "") -> None:
        fact.setText(text)
        set_look(fact, look)
        for line, candidate in self._facts:
            if candidate is fact:
                fact.setVisible(bool(text))
                line.setVisible(bool(text))

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, RunStarted):
                self._times.clear()
                self._metrics = {}
            elif isinstance(event, StepCompleted):
                self._times.append(event.time_s)
                self._metrics = dict(event.metrics)
            elif isinstance(event, TrainerStatus) and event.status is not RunStatus.RUNNING:
                self._times.clear()
        self._refresh()

    def _refresh(self, *_: object) -> None:
        self._show_run(self._workspace.run)
        if self._workspace.torch_version:
            self._set(self.torch, f"torch {self._workspace.torch_version} ready")
        rate = self._rate()
        busy = self._workspace.is_training
        if busy:
            self._set(self.steps, f"{number(rate, 1)} steps/s" if rate is not None else "")
        else:
            self._set(self.steps, self._elsewhere(self._workspace.run))
        tokens = self._metrics.get("tokens_per_second")
        self._set(self.tokens, f"{count(round(tokens))} tokens/s" if tokens is not None and busy else "")
        memory = self._metrics.get("system/gpu_memory_gb")
        self._set(self.memory, f"GPU {number(memory, 1)} GB" if memory is not None and busy else "")

    def _elsewhere(self, run: RunRecord | None) -> str:
        """What the selected run does, where this window trains nothing."""
        if run is not None and run.origin == "followed" and run.status.is_active:
            return "followed"
        return "idle" if self._workspace.transport_status is None else "in the background"

    def _rate(self) -> float | None:
        if len(self._times) < 2 or self._times[-1] <= self._times[0]:
            return None
        return (len(self._times) - 1) / (self._times[-1] - self._times[0])

    def _show_run(self, run: RunRecord | None) -> None:
        self._set(self.device, run.device if run is not None else self._workspace.settings.device)
        self._set(self.completions, f"{count(run.completions if run is not None else 0)} completions")
        status = self._workspace.status
        if status is not None and status.status is RunStatus.WAITING and AWAITING not in status.message:
            self._set(self.database, f"database busy: {status.message}", "warn")
        else:
            self._set(self.database, "database ok" if self._workspace.runs else "database new")

    def _refresh_lateness(self) -> None:
        late = self._meter.p95_ms()
        self._set(self.lateness, f"window {number(late, 0)} ms", "warn" if late > 50 else "")
