"""The diagnosis beside the window: keeps the selected run and the trained one judged, and their findings stored."""

import logging
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from grpo_gui.diagnose.finding import FindingState
from grpo_gui.diagnose.reading import Severity
from grpo_gui.events import EvalCompleted, Event, RunFailed, SnapshotSaved, StepCompleted, TrainerStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.training.diagnosing import RunDiagnosis, finding_records
from grpo_gui.ui.background_tasks import TaskFailure
from grpo_gui.ui.models.run_health import RunDetails, RunHealth, details_of, health_of
from grpo_gui.ui.workspace import Workspace

logger = logging.getLogger(__name__)

READ_MS = 1000  # between two looks at the store; it commits within a quarter of that
KEPT = 3  # diagnoses of runs that were looked at last
MOST_EVENTS = 200  # that wait for a look; the store has them all

_TOLD = StepCompleted | EvalCompleted | SnapshotSaved | RunFailed
_NEWS = _TOLD | TrainerStatus


@dataclass(frozen=True, slots=True)
class Answer:
    """What one look at the store brought; `records` only where they differ from the stored ones."""

    health: RunHealth
    details: RunDetails | None
    records: tuple[FindingRecord, ...] | None


class _Watched:
    """One run under watch: its diagnosis, used by one background read at a time."""

    def __init__(self, run_id: int, steps_done: int) -> None:
        self.diagnosis = RunDiagnosis(run_id)
        self.health = RunHealth(run_id)
        self.events: deque[Event] = deque(maxlen=MOST_EVENTS)  # since the newest look
        self.is_busy = False
        self.must_read_again = False
        self.has_failed = False
        self.seen_from = steps_done  # what was found up to there is no news
        self.told: dict[str, Severity] = {}


class HealthWatch(QObject):
    """Follows live, followed and finished runs alike through the store. All signals come on the GUI thread."""

    changed = Signal(object)  # RunHealth of the selected run
    details_changed = Signal(object)  # RunDetails of the selected run, while they are wanted
    found = Signal(int, object)  # run id, Finding: opened or worsened just now in a run that goes on

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._watched: OrderedDict[int, _Watched] = OrderedDict()
        self._wants_details = False
        self._is_late = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(READ_MS)
        self._timer.timeout.connect(self._tick)
        workspace.run_selected.connect(self._select)
        workspace.all_events.connect(self._take_events)
        workspace.store_grew.connect(self._schedule)
        if workspace.run is not None:
            self._select(workspace.run)

    @property
    def health(self) -> RunHealth:
        """What is known of the selected run; empty before the first look and without a run."""
        run = self._workspace.run
        watched = None if run is None else self._watched.get(run.id)
        return RunHealth(0 if run is None else run.id) if watched is None else watched.health

    def want_details(self, wanted: bool) -> None:
        """Make the details too, while somebody looks at them."""
        self._wants_details = wanted
        if wanted and self._workspace.run is not None:
            self._read(self._workspace.run)

    def mute(self, detector: str, muted: bool) -> None:
        """Hear no more of a detector in the selected run, or hear of it again."""
        run = self._workspace.run
        if run is not None:
            run_id = run.id
            self._workspace.write(lambda writer: writer.mute_finding(run_id, detector, muted), self._muted)

    # --- when to look

    def _select(self, run: RunRecord | None) -> None:
        if run is not None:
            self._read(run)
        self.changed.emit(self.health)

    def _take_events(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, _TOLD) and event.run_id in self._watched:
                self._watched[event.run_id].events.append(event)
        if any(isinstance(event, _NEWS) for event in events):
            self._schedule()

    def _schedule(self) -> None:
        if self._timer.isActive():
            self._is_late = True  # the store may not have it yet when the timer ends
        else:
            self._timer.start()

    def _tick(self) -> None:
        if self._is_late:
            self._is_late = False
            self._timer.start()
        for run in self._runs():
            self._read(run)

    def _runs(self) -> Iterable[RunRecord]:
        selected, trained = self._workspace.run, self._workspace.trained_run
        runs = (run for run in (selected, trained) if run is not None)
        return {run.id: run for run in runs}.values()

    def _muted(self, _: None) -> None:
        self._tick()

    # --- looking

    def _read(self, run: RunRecord) -> None:
        watched = self._watched.get(run.id)
        if watched is None:
            watched = self._watched[run.id] = _Watched(run.id, run.steps_done)
        self._watched.move_to_end(run.id)
        if watched.is_busy:
            watched.must_read_again = True
            return
        watched.is_busy = True
        self._forget_old()
        with_details = self._wants_details and self._workspace.run is not None and self._workspace.run.id == run.id
        # Where some did not fit, what was measured after a step may be among them: the store tells all.
        events = tuple(watched.events) if len(watched.events) < MOST_EVENTS else ()
        watched.events.clear()
        work = partial(_look, diagnosis=watched.diagnosis, events=events, with_details=with_details)
        self._workspace.read(work, self._take, partial(self._failed, run.id))

    def _forget_old(self) -> None:
        wanted = {run.id for run in self._runs()}
        for run_id in [run_id for run_id, one in self._watched.items() if not one.is_busy and run_id not in wanted]:
            if len(self._watched) > KEPT:
                del self._watched[run_id]

    def _take(self, answer: Answer) -> None:
        health = answer.health
        watched = self._watched[health.run_id]
        watched.is_busy = False
        watched.health = health
        selected = self._workspace.run
        if selected is not None and selected.id == health.run_id:
            self.changed.emit(health)
            if answer.details is not None:
                self.details_changed.emit(answer.details)
        if answer.records is not None:
            records = answer.records
            self._workspace.write(lambda writer: writer.save_findings(health.run_id, records), _ignore)
        self._tell_news(watched)
        if watched.must_read_again:
            watched.must_read_again = False
            self._schedule()

    def _tell_news(self, watched: _Watched) -> None:
        health = watched.health
        is_live = any(run.id == health.run_id and run.status.is_active for run in self._runs())
        for one in health.findings:
            if one.state is not FindingState.OPEN or one.severity <= watched.told.get(one.detector, 0):
                continue
            watched.told[one.detector] = one.severity
            newest = one.history[-1].step if one.history else one.noticed
            if is_live and newest > watched.seen_from and one.detector not in health.muted:
                self.found.emit(health.run_id, one)

    def _failed(self, run_id: int, failure: TaskFailure) -> None:
        watched = self._watched[run_id]
        watched.is_busy = False
        logger.warning("Run %d cannot be diagnosed: %s\n%s", run_id, failure.message, failure.traceback)
        if not watched.has_failed:
            watched.has_failed = True
            self._workspace.problem.emit(f"Run {run_id} cannot be diagnosed. {failure.message}", failure.traceback)


def _look(reader: StoreReader, diagnosis: RunDiagnosis, events: Sequence[Event], with_details: bool) -> Answer:
    """Take what is new in a background thread."""
    diagnosis.update(reader, events)
    run_id = diagnosis.run_id
    records = finding_records(diagnosis.diagnosis)
    return Answer(
        health_of(run_id, diagnosis.diagnosis, reader.muted_findings(run_id)),
        details_of(run_id, diagnosis.diagnosis) if with_details else None,
        records if records != reader.findings(run_id) else None,
    )


def _ignore(_: None) -> None:
    """Nothing has to follow."""
