"""What every view gets: the selected run, its events, background reads, and the way to start and steer a trainer."""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.commands import Command, HandOver, Resume, Step
from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.events import Event, RunFailed, RunStatus, SnapshotRemoved, SnapshotSaved, TrainerStatus
from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun, RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.handle import TrainerHandle
from grpo_gui.training.presets import run_name
from grpo_gui.training.resuming import begins_anew
from grpo_gui.training.reward_files import changed_files
from grpo_gui.training.validation import config_from_json, config_to_json
from grpo_gui.ui.background_tasks import BackgroundTasks, TaskFailure
from grpo_gui.ui.engine import Launcher, Writer
from grpo_gui.ui.event_pump import EventPump
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.run_config import config_of
from grpo_gui.ui.run_counting import counted

logger = logging.getLogger(__name__)

T = TypeVar("T")

FOLLOW_INTERVAL_MS = 250
RUNS_EVERY = 8  # ticks of the follow timer between two looks for runs of other processes


class Workspace(QObject):
    """One database with a selected run. Everything here happens on the GUI thread; reads happen beside it."""

    runs_changed = Signal(object)  # list[RunRecord], newest first
    run_selected = Signal(object)  # RunRecord | None: another run, or none
    run_updated = Signal(object)  # RunRecord: the selected run has new numbers or another status
    events = Signal(object)  # list[Event] of the selected run, one batch of the pump
    all_events = Signal(object)  # list[Event] of every run trained in this window
    store_grew = Signal()  # the store has points of the selected run that no event told: read on after your last step
    status_changed = Signal(object)  # TrainerStatus of the run trained in this window
    handed_over = Signal(int)  # run id: the process in the background was started
    torch_ready = Signal(str)  # its version: from now on starting and previews are quick
    torch_failed = Signal()  # it cannot be loaded; a `problem` says why
    handle_changed = Signal()  # a trainer started or ended
    group_selected = Signal(object)  # GroupRef
    completion_selected = Signal(object)  # CompletionRef
    step_selected = Signal(int)
    settings_changed = Signal(object)  # Settings
    view_requested = Signal(str)  # train, completions
    keys_requested = Signal()  # show the keys of the view on screen
    new_run_requested = Signal()  # show the form
    branch_requested = Signal(object)  # BranchPoint: show the form for a branch
    form_asked = Signal(object)  # TrainConfig: show the form filled in with it
    finding_asked = Signal(str)  # detector: open the card of its finding in the Train view
    completions_asked = Signal(object)  # CompletionQuery of the selected run, for the Completions view
    snapshots_changed = Signal(int)  # run id: it has another snapshot, or one less, and the store knows
    failed = Signal(str, str)  # the run of this window failed: a sentence, and a traceback or ""
    confirmation_needed = Signal(object, object)  # list[Path] with reward functions; what to call once confirmed
    import_requested = Signal(bool)  # choose a run made elsewhere; True: to follow it while it goes on
    notice = Signal(str, str)  # nothing failed, but the user should know: a sentence, and details or ""
    closing = Signal()  # the database is about to be closed: long work beside the GUI thread shall stop
    problem = Signal(str, str)  # something else failed: a sentence for the user, and a traceback or ""

    def __init__(
        self,
        database: Path,
        settings: Settings,
        tasks: BackgroundTasks[StoreReader],
        pump: EventPump,
        writer: Writer,
        launcher: Launcher,
    ) -> None:
        super().__init__()
        self.database = database
        self.settings = settings
        self.runs: list[RunRecord] = []
        self.run: RunRecord | None = None
        self.handle: TrainerHandle | None = None  # the trainer in this window, also after its end
        self.status: TrainerStatus | None = None  # its newest status
        self.trained_run: RunRecord | None = None  # its record, while it trains
        self.is_starting = False
        self.torch_version = ""  # "" until torch is warm
        self.devices: tuple[str, ...] = ()  # that torch found, in its names
        self._attached: TrainerHandle | None = None  # of the selected run, when another process of ours trains it
        self._tasks, self._pump, self._writer, self._launcher = tasks, pump, writer, launcher
        self._ticks = 0
        pump.batch.connect(self._take_batch)
        pump.lagged.connect(self._read_on)
        self._follow_timer = QTimer(self)
        self._follow_timer.setInterval(FOLLOW_INTERVAL_MS)
        self._follow_timer.timeout.connect(self._tick)
        self._follow_timer.start()

    # --- reading

    def read(
        self,
        function: Callable[[StoreReader], T],
        done: Callable[[T], None],
        failed: Callable[[TaskFailure], None] | None = None,
        *,
        key: str = "",
    ) -> None:
        """Run `function` with a reader beside the GUI thread and call `done` with its result on the GUI thread.

        Of reads with the same `key` only the newest is delivered. Without `failed`, errors become `problem`.
        `done` should be a method of the widget: it is dropped when the widget is gone.
        """
        self._tasks.run(function, done, failed or self._report, key)

    def refresh_runs(self) -> None:
        """Read the run list again; `runs_changed` follows."""
        self.read(lambda reader: list(reader.runs()), self._take_runs, key="workspace.runs")

    # --- runs

    @property
    def is_training(self) -> bool:
        """True while the trainer of this window is alive."""
        if self.handle is None or self.status is None:
            return False
        return self.status.status.is_active and self.handle.is_running()

    @property
    def is_selected_trained_here(self) -> bool:
        """True while the selected run is the one this window trains."""
        return (
            self.run is not None and self.is_training and self.handle is not None and self.handle.run_id == self.run.id
        )

    def select_run(self, run_id: int | None) -> None:
        """Show another run, or none; `run_selected` follows (at once for None and for runs of the list)."""
        if run_id is None:
            self._select(None)
            return
        trained = self.trained_run
        known = trained if trained is not None and trained.id == run_id else None
        known = known or next((run for run in self.runs if run.id == run_id), None)
        if known is not None:
            self._select(known)
        else:
            self.read(lambda reader: reader.run(run_id), self._select, key="workspace.select")

    def selected_config(self) -> TrainConfig | None:
        """Return the selected run's config; None without a run and for one of another program."""
        return config_of(self.run)

    def write(
        self,
        function: Callable[[Writer], T],
        done: Callable[[T], None],
        failed: Callable[[TaskFailure], None] | None = None,
    ) -> None:
        """Run `function` with the store's writer beside the GUI thread; see `read`."""
        self._tasks.run(lambda _: function(self._writer), done, failed or self._report)

    def start(self, config: TrainConfig, *, only_one_step: bool = False, branch: BranchPoint | None = None) -> None:
        """Create a run, perhaps as a branch of another one, and start the trainer of this window.

        Ignored while one is alive or starting.
        """
        if self.is_training or self.is_starting:
            return
        self.is_starting = True
        new = NewRun(run_name(config), config.task, config_to_json(config), config.seed, config.device)
        if branch is not None:
            new = replace(new, parent_run_id=branch.run_id, parent_step=branch.step)
        self.handle_changed.emit()

        def create(reader: StoreReader) -> RunRecord:
            run = reader.run(self._writer.create_run(new))
            if run is None:
                raise StoreError("The new run cannot be read back from the database; choose another database file.")
            return run

        def created(run: RunRecord) -> None:
            self._launch(config, run, resume=False, snapshot=None if branch is None else branch.path)
            if only_one_step:
                self.post(Step())

        self._tasks.run(create, created, self._start_failed)

    def resume_run(self, run: RunRecord, *, snapshot: Path | None = None, steps: int | None = None) -> None:
        """Go on with a run in this window, from its saved state or one of its snapshots, perhaps to another step."""
        again = partial(self.resume_run, run, snapshot=snapshot, steps=steps)
        if self.is_training or self.is_starting or self._must_ask(run, again):
            return
        try:
            before = config_from_json(run.config)
            resume = snapshot is not None or not begins_anew(run)
        except BadInputError as error:
            self.problem.emit(str(error), "")
            return
        if steps is None or steps == before.steps:
            self._launch(before, run, resume=resume, snapshot=snapshot)
            return
        config = replace(before, steps=steps)
        self.is_starting = True
        self.handle_changed.emit()
        longer = replace(run, config=config_to_json(config))
        self._tasks.run(
            lambda _: self._writer.replace_config(run.id, longer.config),
            lambda _: self._launch(config, longer, resume=resume, snapshot=snapshot),
            self._start_failed,
        )

    def post(self, command: Command) -> None:
        """Hand a command to the trainer of this window, else to the process that trains the selected run."""
        run = self.trained_run if self.is_training else self.run
        if isinstance(command, Resume | Step) and self._must_ask(run, partial(self.post, command)):
            return
        if self.is_training and self.handle is not None:
            self.handle.post(command)
        elif self._attached is not None:
            self._attached.post(command)

    def _must_ask(self, run: RunRecord | None, retry: Callable[[], None]) -> bool:
        """True when a file with reward functions of the run has changed; `retry` is called once it is confirmed."""
        files = [] if run is None else changed_files(run.config)
        if files:
            self.confirmation_needed.emit(files, retry)
        return bool(files)

    @property
    def transport_status(self) -> RunStatus | None:
        """Where the trainer stands that `post` reaches; None where it reaches none."""
        if self.is_training and self.status is not None:
            return self.status.status
        return self.run.status if self.can_post and self.run is not None else None

    @property
    def can_post(self) -> bool:
        """True while a trainer listens: in this window, or elsewhere for the selected run."""
        return self.is_training or (self._attached is not None and self.run is not None and self.run.status.is_active)

    def hand_over(self) -> None:
        """Move the training of this window into a process of ours that survives it; `handed_over` follows."""
        if self.is_training:
            self.post(HandOver())

    def add_note(self, step: int, text: str) -> None:
        """Keep a note at a step of the selected run."""
        if self.run is not None:
            run_id = self.run.id
            self._tasks.run(lambda _: self._writer.add_note(run_id, step, text), self._noted, self._report)

    def rename_run(self, run_id: int, name: str) -> None:
        """Give a run another name."""
        self._tasks.run(lambda _: self._writer.rename_run(run_id, name), self._renamed, self._report)

    def set_torch_ready(self, version: str, devices: tuple[str, ...]) -> None:
        """Tell everybody that torch is imported and warm."""
        self.torch_version, self.devices = version, devices
        self.torch_ready.emit(version)

    def set_torch_failed(self, sentence: str, details: str) -> None:
        """Tell everybody that torch cannot be loaded."""
        self.torch_failed.emit()
        self.problem.emit(sentence, details)

    def use_settings(self, settings: Settings) -> None:
        """Take other settings for new runs."""
        self.settings = settings
        self.settings_changed.emit(settings)

    def close(self) -> None:
        """End the timers and long jobs; the caller ends trainer, tasks and store."""
        self.closing.emit()
        self._follow_timer.stop()

    # --- inside

    def _launch(self, config: TrainConfig, run: RunRecord, *, resume: bool, snapshot: Path | None = None) -> None:
        self.is_starting = False
        try:
            self.handle = self._launcher.start(config, run.id, resume=resume, snapshot=snapshot)
        except (BadInputError, StoreError) as error:  # another trainer has it, or its folder cannot be written
            self._start_failed(TaskFailure(str(error), ""))
            return
        self.status = TrainerStatus(run.id, RunStatus.WARMING_UP, run.steps_done)
        self.trained_run = replace(run, status=RunStatus.WARMING_UP)
        self._select(self.trained_run)
        self.refresh_runs()
        self.status_changed.emit(self.status)
        self.handle_changed.emit()

    def _start_failed(self, failure: TaskFailure) -> None:
        self.is_starting = False
        self._report(failure)
        self.handle_changed.emit()

    def _select(self, run: RunRecord | None) -> None:
        self.run = run
        self._attached = None
        if run is not None and run.status.is_active and not self.is_selected_trained_here:
            self._attached = self._launcher.attach(run)
        self.run_selected.emit(run)
        self.handle_changed.emit()

    def _take_runs(self, runs: list[RunRecord]) -> None:
        self.runs = runs
        self.runs_changed.emit(runs)
        known = None if self.run is None else next((run for run in runs if run.id == self.run.id), None)
        if known is not None and known != self.run and not self.is_selected_trained_here:
            self._renew(known)

    def _take_batch(self, events: list[Event]) -> None:
        ended = False
        for run_id in {event.run_id for event in events if isinstance(event, SnapshotSaved | SnapshotRemoved)}:
            QTimer.singleShot(2 * FOLLOW_INTERVAL_MS, self, partial(self.snapshots_changed.emit, run_id))
        for event in events:
            if isinstance(event, TrainerStatus):
                self.status = event
                if event.details:
                    self.problem.emit(event.message, event.details)
                ended = ended or not event.status.is_active
                self.status_changed.emit(event)
            elif isinstance(event, RunFailed):
                self.failed.emit(event.message, event.traceback)
        self._count_in(events)
        self.all_events.emit(events)
        if self.run is not None:
            mine = [event for event in events if event.run_id == self.run.id]
            if mine:
                self.events.emit(mine)
        if ended:
            self.handle_changed.emit()
            self.refresh_runs()
        if ended and self.status is not None and self.status.status is RunStatus.HANDED_OVER:
            self._start_background(self.status.run_id)

    def _count_in(self, events: list[Event]) -> None:
        """Bring the records of the trained and of the selected run up to date from their events."""
        if self.trained_run is not None:
            trained = counted(self.trained_run, events)
            self.trained_run = trained if trained.status.is_active else None
        if self.run is not None:
            run = counted(self.run, events)
            if run is not self.run:
                self.run = run
                self.run_updated.emit(run)

    def _start_background(self, run_id: int) -> None:
        def started(handle: TrainerHandle) -> None:
            if self.run is not None and self.run.id == run_id:
                self._attached = handle
            self.handle_changed.emit()
            self.handed_over.emit(run_id)

        self._tasks.run(lambda _: self._launcher.start_in_background(run_id), started, self._report)

    def _read_on(self) -> None:
        """Let views read what they missed once the store's writer has committed it."""
        QTimer.singleShot(2 * FOLLOW_INTERVAL_MS, self, self.store_grew.emit)

    def _tick(self) -> None:
        self._ticks += 1
        run = self.run
        if run is not None and run.status.is_active and not self.is_selected_trained_here:
            run_id = run.id
            self.read(lambda reader: reader.run(run_id), self._take_followed, key="workspace.follow")
        if self._ticks % RUNS_EVERY == 0:
            self.refresh_runs()

    def _take_followed(self, run: RunRecord | None) -> None:
        if run is None or self.run is None or self.run.id != run.id or self.run == run:
            return
        if not self.is_selected_trained_here:
            self._renew(run)
        self.store_grew.emit()

    def _renew(self, run: RunRecord) -> None:
        """Take a newer record of the selected run, which another process trains."""
        was_active, self.run = self.run is not None and self.run.status.is_active, run
        self.run_updated.emit(run)
        if was_active and not run.status.is_active:
            self.handle_changed.emit()
            if run.status is RunStatus.FAILED:
                self.failed.emit(run.message or f"Run {run.id} failed.", "")

    def _noted(self, _: int | None) -> None:
        self.store_grew.emit()

    def _renamed(self, _: None) -> None:
        self.refresh_runs()

    def _report(self, failure: TaskFailure) -> None:
        if failure.traceback:
            logger.error("A background task failed:\n%s", failure.traceback)
        else:
            logger.warning("%s", failure.message)
        self.problem.emit(failure.message, failure.traceback)
