"""The selected run as the Train view needs it: curves, notes and newest groups, from the store and live."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.events import EvalCompleted, Event, HyperparameterChanged, RunStarted, StepCompleted
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import ChangeRecord, NoteRecord, RunRecord, SeriesPoints, StepTotals
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.run_past import RunPast, read_past
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.shown_step import ShownStep, of_event, of_records
from grpo_gui.ui.run_config import config_of
from grpo_gui.ui.workspace import Workspace

_SETTLE_MS = 400  # the store commits within 250 ms what was said before the run was selected


@dataclass(frozen=True, slots=True)
class StoredPart:
    """What the store has of a run beyond a step."""

    run_id: int
    points: tuple[SeriesPoints, ...]
    totals: StepTotals
    changes: tuple[ChangeRecord, ...]
    notes: tuple[NoteRecord, ...]
    newest_step: int  # 0 before the first
    newest: ShownStep | None


class RunModel(QObject):
    """Follows the workspace's selected run. All signals come on the GUI thread."""

    opened = Signal()  # another run (or none): everything is new
    grown = Signal()  # points were added
    changes_changed = Signal()
    notes_changed = Signal()
    step_arrived = Signal(object)  # ShownStep, the newest

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.series = RunSeries(0)
        self.past = self.series.past
        self.config: TrainConfig | None = None
        self.notes: tuple[NoteRecord, ...] = ()
        self.newest: ShownStep | None = None
        self.is_loading = False
        self._smoothing = 0.0
        self._workspace = workspace
        self._early: list[Event] = []  # came while the store was being read
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._read_on)
        workspace.run_selected.connect(self._select)
        workspace.events.connect(self._take_events)
        workspace.store_grew.connect(self._read_on)

    def smooth_with(self, weight: float) -> None:
        """What the plots will ask for: a run that is opened is smoothed in the background already."""
        self._smoothing = weight

    def open(self) -> None:
        """Open the run that is selected already; others follow by themselves."""
        if self._workspace.run is not None:
            self._select(self._workspace.run)

    def _select(self, run: RunRecord | None) -> None:
        self.series = RunSeries(run.id if run is not None else 0)
        self.past = self.series.past
        self.config = config_of(run)
        self.notes, self.newest, self._early = (), None, []
        self.is_loading = run is not None
        self._settle.stop()
        self.opened.emit()
        if run is not None:
            reading = partial(_open_run, run_id=run.id, smoothing=self._smoothing)
            self._workspace.read(reading, self._take_run, self._open_failed, key="train.open")
            self._read_past()

    def _take_run(self, loaded: tuple[RunSeries, StoredPart]) -> None:
        series, part = loaded
        if series.run_id != self.series.run_id:
            return
        self.series, self.notes, self.newest = series, part.notes, part.newest
        self.is_loading = False
        series.take_past(self.past)
        run = self._workspace.run
        if run is not None and run.status.is_active:
            series.wait_for_store()
            self._settle.start()
        early, self._early = self._early, []
        self.opened.emit()
        if self.newest is not None:
            self.step_arrived.emit(self.newest)
        self._take_events(early)

    def _open_failed(self, failure: TaskFailure) -> None:
        self.is_loading = False
        self.opened.emit()
        self._workspace.problem.emit(failure.message, failure.traceback)

    def _take_events(self, events: list[Event]) -> None:
        if self.is_loading:
            self._early += events
            return
        newest: StepCompleted | None = None
        for event in events:
            if isinstance(event, StepCompleted | EvalCompleted):
                self.series.take(event)
                newest = event if isinstance(event, StepCompleted) else newest
            elif isinstance(event, HyperparameterChanged):
                self.series.take_change(event)
                self.changes_changed.emit()
            elif isinstance(event, RunStarted) and event.step < self.series.newest_step:
                QTimer.singleShot(_SETTLE_MS, self, self._read_past)  # a seam
                self._select(self._workspace.run)  # it goes on from an earlier step, whose successors are void
                return
            elif isinstance(event, RunStarted) and event.step:
                QTimer.singleShot(_SETTLE_MS, self, self._read_past)
        if newest is not None and newest.groups:
            self.newest = of_event(newest)
            self.step_arrived.emit(self.newest)
        if self.series.needs_store and not self._settle.isActive():
            self._settle.start()
        self.grown.emit()

    def _read_on(self) -> None:
        """Read what the store has and no event told."""
        if self.series.run_id and not self.is_loading:
            after = max(self.series.newest_step - 1, -1)  # an evaluation comes after its step
            reading = partial(_read_part, run_id=self.series.run_id, after_step=after, ends=self.series.ends())
            self._workspace.read(reading, self._take_part, key="train.more")

    def _read_past(self) -> None:
        """Read where the run was taken up again, and what was replaced then."""
        if self.series.run_id:
            self._workspace.read(partial(read_past, run_id=self.series.run_id), self._take_past, key="train.past")

    def _take_past(self, past: RunPast) -> None:
        if past.run_id == self.series.run_id:
            self.past = past
            self.series.take_past(past)
            self.grown.emit()

    def _take_part(self, part: StoredPart) -> None:
        if part.run_id != self.series.run_id or self.is_loading:
            return
        known = self.series.newest_step
        if part.newest_step < known and not self._workspace.is_selected_trained_here:
            self._select(self._workspace.run)  # another process went on from an earlier step
            return
        self.series.absorb(part.points, part.totals)
        # what an event told may have come after the store was read
        told = (one for one in self.series.changes if one.step > part.newest_step and one not in part.changes)
        changes = [*part.changes, *told]
        if changes != self.series.changes:
            self.series.changes = changes
            self.changes_changed.emit()
        if part.notes != self.notes:
            self.notes = part.notes
            self.notes_changed.emit()
        if part.newest is not None and self._is_news(part.newest):
            self.newest = part.newest
            self.step_arrived.emit(part.newest)
        self.grown.emit()

    def _is_news(self, step: ShownStep) -> bool:
        """True for a later step, and for the same one when its samples have learned their rewards since."""
        if self.newest is None or step.step > self.newest.step:
            return True
        if step.step < self.newest.step or self._workspace.is_selected_trained_here:
            return False
        return _learned(step) != _learned(self.newest)


def _learned(step: ShownStep) -> list[tuple[str, int, int]]:
    """What becomes known of samples after they were made; as text, since NaN differs from itself."""
    return [(f"{one.advantage} {one.reward}", len(one.logps), hash(one.logps)) for one in step.completions]


def _open_run(reader: StoreReader, run_id: int, smoothing: float) -> tuple[RunSeries, StoredPart]:
    part = _read_part(reader, run_id, None, {})
    series = RunSeries(run_id)
    series.absorb(part.points, part.totals)
    series.changes = list(part.changes)
    series.smooth_ahead(smoothing)
    return series, part


def _read_part(reader: StoreReader, run_id: int, after_step: int | None, ends: Mapping[str, int]) -> StoredPart:
    """What the store has after a step, and of each curve after its own end."""
    names = reader.series_names(run_id)
    newest = reader.newest_step(run_id)
    shown = None
    sampled = reader.newest_sampled_step(run_id)
    if sampled is not None and (after_step is None or sampled > after_step):
        shown = of_records(run_id, sampled, reader.groups_of_step(run_id, sampled))
    return StoredPart(
        run_id,
        tuple(reader.points(run_id, name, ends.get(name)) for name in names),
        reader.totals(run_id, after_step),
        tuple(reader.changes(run_id)),
        tuple(reader.notes(run_id)),
        newest or 0,
        shown if shown is not None and shown.groups else None,
    )
