"""The form for a new run: the default filled in, checked while typed, one button that starts it."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QBoxLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from grpo_gui.events import RunStatus
from grpo_gui.tasks.bench import BenchRow
from grpo_gui.training.rating_rules import awaited_step
from grpo_gui.ui import theme
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.config_draft import ConfigDraft
from grpo_gui.ui.models.run_pace import pace_like
from grpo_gui.ui.run_text import run_title
from grpo_gui.ui.trl_start import HandOver, TrlStart
from grpo_gui.ui.widgets.begin_with import BeginWith
from grpo_gui.ui.widgets.data_card import DataCard, DataReader
from grpo_gui.ui.widgets.labels import label
from grpo_gui.ui.widgets.pinned_start import PinnedStart
from grpo_gui.ui.widgets.preview_card import PreviewCard, Sampler
from grpo_gui.ui.widgets.reward_bench import RewardBench, Runnable
from grpo_gui.ui.widgets.run_form_card import RunFormCard
from grpo_gui.ui.widgets.task_cards import TaskCard
from grpo_gui.ui.workspace import Workspace

FORM_WIDTH = 720
SIDE_WIDTH = 344
_AROUND = 16 + 2 * 24  # pixels between and beside the two
PREVIEW_DELAY_MS = 300  # after the last edit


class RunForm(QScrollArea):
    """`validity_changed` whenever it becomes possible or impossible to start."""

    validity_changed = Signal(bool)
    database_requested = Signal()
    import_requested = Signal(bool)  # True: to follow the run

    def __init__(self, workspace: Workspace, sample: Sampler, read_data: DataReader, hand_over: HandOver) -> None:
        super().__init__()
        self._workspace = workspace
        self._handing = TrlStart(workspace, hand_over, self)
        self.is_valid = True
        self.draft = ConfigDraft(workspace.settings)
        self.card = RunFormCard(self.draft)
        self.preview = PreviewCard(sample)
        self.data = DataCard(read_data)
        self.begin = BeginWith()
        self._preview_timer = QTimer(self)
        self._preview_timer.setSingleShot(True)
        self._preview_timer.setInterval(PREVIEW_DELAY_MS)
        self._preview_timer.timeout.connect(self._update_preview)
        self._lay_out()
        self.card.start_clicked.connect(self.submit)
        self.card.all_settings.reward_files.bench_clicked.connect(self._open_bench)
        self.begin.chosen.connect(self._begin_otherwise)
        self.data.checked.connect(self.draft.note_data)
        self.draft.changed.connect(self._draft_changed)
        workspace.settings_changed.connect(self.draft.use_settings)
        workspace.torch_ready.connect(self._torch_ready)
        self._handing.changed.connect(self.refresh)
        workspace.handle_changed.connect(self.refresh)
        workspace.status_changed.connect(self.refresh)
        if workspace.torch_version:
            self._torch_ready()
        self._draft_changed()

    def submit(self, *, only_one_step: bool = False) -> None:
        """Start the run, as a click on the button does; where the first update waits for ratings, go and give them."""
        if not self.card.start.isEnabled():
            return
        if self._awaits_ratings():
            self._workspace.view_requested.emit("rate")
            return
        if self.draft.place is not None:
            self._handing.start(self.draft.config, self.draft.place, self.draft.accelerate)
        else:
            self._workspace.start(self.draft.config, only_one_step=only_one_step, branch=self.draft.branch)

    def refresh(self) -> None:
        """Bring the Start button in line with the draft and with what is training."""
        self.card.show_start(*self._start_text())
        self.pinned.refresh()
        is_busy = self._handing.is_starting or self._workspace.is_starting or self._is_warming_up()
        self.card.setDisabled(is_busy and not self._awaits_ratings())
        valid = self.card.start.isEnabled()
        if valid != self.is_valid:
            self.is_valid = valid
            self.validity_changed.emit(valid)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Start on Enter, unless a button has the focus: then press that."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
            return
        focus = QApplication.focusWidget()
        if isinstance(focus, QAbstractButton) and not isinstance(focus, TaskCard):
            focus.click()
        else:
            self.submit()

    def _start_text(self) -> tuple[str, str]:
        workspace = self._workspace
        if self._handing.is_starting:
            return "Starting TRL\u2026", "The run begins as soon as TRL's processes are on their way."
        if self._awaits_ratings():
            return "Rate the first groups", ""
        if workspace.is_starting or self._is_warming_up():
            return "Warming up\u2026", "The run starts as soon as torch is ready."
        if workspace.is_training and workspace.trained_run is not None:
            title = run_title(workspace.trained_run)
            return "Start training", f"{title} is training in this window; stop it or move it to the background first."
        text = "Start training" if self.draft.place is None else "Start with TRL"
        return text, next(iter(self.draft.problems().values()), "")

    def _is_warming_up(self) -> bool:
        run = self._workspace.trained_run
        return self._workspace.is_training and run is not None and run.steps_done == 0

    def _awaits_ratings(self) -> bool:
        status = self._workspace.status
        awaits = status is not None and status.status is RunStatus.WAITING and awaited_step(status.message) is not None
        return awaits and self._is_warming_up()

    def _draft_changed(self) -> None:
        self.refresh()
        self._preview_timer.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put what stands beside the form below it where there is no room for both."""
        beside = self.viewport().width() >= theme.px(FORM_WIDTH + SIDE_WIDTH + _AROUND)
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._columns.direction() is not way:
            self._columns.setDirection(way)
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Look again how long such a run takes: one may have ended meanwhile."""
        super().showEvent(event)
        self._read_pace()

    def _read_pace(self) -> None:
        config = self.draft.config
        self._workspace.read(lambda reader: pace_like(reader, config), self.card.show_pace, key="form.pace")

    def _update_preview(self) -> None:
        self._read_pace()
        problems = self.draft.problems()
        if not problems:
            self.preview.show_config(self.draft.config)
        if not {"prompt_file", "model", "task"} & problems.keys() and self._workspace.torch_version:
            self.data.show_config(self.draft.config)

    def _begin_otherwise(self, beginning: str) -> None:
        match beginning:
            case "follow" | "import":
                self.import_requested.emit(beginning == "follow")
            case "model":
                self.card.policy.setFocus()
                self.card.policy.showPopup()
            case _:
                self.database_requested.emit()

    def _open_bench(self) -> None:
        """Open the test bench for the rewards of the draft."""

        def run(
            function: Runnable, done: Callable[[list[BenchRow]], None], failed: Callable[[TaskFailure], None]
        ) -> None:
            self._workspace.read(lambda _: function(), done, failed, key="form.bench")

        self.bench = RewardBench(self.draft.config.rewards, run)
        self.bench.show()
        self.bench.start()

    def _torch_ready(self) -> None:
        self.card.set_devices(self._workspace.devices)
        self._update_preview()
        self.preview.set_ready()

    def _lay_out(self) -> None:
        self.setWidgetResizable(True)
        self.setAccessibleName("New run")
        self.setFrameShape(self.Shape.NoFrame)
        page = QWidget()
        page.setProperty("look", "page")
        side = QVBoxLayout()
        side.setSpacing(16)
        side.addWidget(self.preview)
        side.addWidget(self.data)
        side.addWidget(self.begin)
        side.addStretch(1)
        left = QVBoxLayout()
        left.addWidget(self.card)
        left.addStretch(1)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(16)
        self._columns.addLayout(left)
        self._columns.addLayout(side)
        self.card.setFixedWidth(theme.px(FORM_WIDTH))
        self.preview.setFixedWidth(theme.px(SIDE_WIDTH))
        self.data.setFixedWidth(theme.px(SIDE_WIDTH))
        self.begin.setFixedWidth(theme.px(SIDE_WIDTH))
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(label("Train a policy with GRPO", "hero"))
        lead = "A whole run is filled in. Start it, and reward, advantages, clipping and KL are drawn while it learns."
        column.addWidget(label(lead, "lead"))
        column.addSpacing(12)
        column.addLayout(self._columns)
        outer = QVBoxLayout(page)
        outer.setContentsMargins(24, 24, 24, 24)
        outer.addStretch(1)
        across = QHBoxLayout()
        across.addStretch(1)
        across.addLayout(column)
        across.addStretch(1)
        outer.addLayout(across)
        outer.addStretch(3)
        self.setWidget(page)
        self.pinned = PinnedStart(self, self.card.start)
