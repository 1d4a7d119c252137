"""Brings diagnosis and store together: a stored run goes in, its diagnosis comes out, its findings go back."""

import json
from collections.abc import Iterator, Mapping, Sequence

from grpo_gui.diagnose.codec import finding_from_json, finding_to_json
from grpo_gui.diagnose.engine import AFTER_STEP, Diagnosis
from grpo_gui.diagnose.facts import RunFacts, facts_from_config
from grpo_gui.diagnose.finding import Finding
from grpo_gui.errors import BadInputError
from grpo_gui.events import EvalCompleted, Event, RunFailed, RunStatus, SnapshotSaved, StepCompleted
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.store.records_diagnosis import FindingRecord, StoredStep


def facts_of_run(run: RunRecord) -> RunFacts:
    """What is known of a run's settings; nothing when its config is not a JSON object (a run that is not ours)."""
    try:
        config = json.loads(run.config)
    except ValueError:
        return RunFacts()
    return facts_from_config(config) if isinstance(config, dict) else RunFacts()


class RunDiagnosis:
    """The diagnosis of a run in the database, kept up to date by reading what is new: live, followed or finished runs.

    What counts is the store, since a window may skip events; those that it has spare most of the reading. Use one at a
    time, in any thread; `update` takes about a millisecond a step.
    """

    def __init__(self, run_id: int) -> None:
        """Begin with nothing read."""
        self.run_id = run_id
        self.diagnosis = Diagnosis(RunFacts())
        self._taken_up = -1  # how often the run had been taken up again when it was read last
        self._has_ended = False  # by an error that was fed
        self._was_told = False  # the newest look needed only events

    def update(self, reader: StoreReader, events: Sequence[Event] = ()) -> tuple[Finding, ...]:
        """Take what is new, from its events where they follow on each other, else from the store.

        Returns the findings that changed by it.

        Raises:
            BadInputError: the run is not in the database.
        """
        taken_up = len(reader.seams(self.run_id))
        if taken_up != self._taken_up:
            self._begin_anew(reader)
            self._taken_up = taken_up
        changed: dict[str, Finding] = {}
        if events and not self._was_told:  # what came with the newest step read then may have reached the disk later
            changed |= {finding.detector: finding for finding in self._read(reader)}
        changed |= {finding.detector: finding for finding in self._hear(events)}
        self._was_told = self._is_told(events)
        if not self._was_told:
            changed |= {finding.detector: finding for finding in self._read(reader)}
        return tuple(changed.values())

    def _is_told(self, events: Sequence[Event]) -> bool:
        """Whether the events brought everything up to their newest step, which is known now."""
        steps = [event.step for event in events if isinstance(event, StepCompleted)]
        has_failed = any(isinstance(event, RunFailed) for event in events)
        return bool(steps) and not has_failed and self.diagnosis.history.step == steps[-1]

    def _read(self, reader: StoreReader) -> Iterator[Finding]:
        """Read what the store has after the newest step that is known."""
        last = self.diagnosis.history.step
        known = last if self.diagnosis.history.names() else None
        for row in reader.diagnosis_steps(self.run_id, after_step=last - 1, samples_after=known):
            if row.step == known:
                yield from self._feed_late(row.step, row.metrics)
            else:
                yield from feed_stored(self.diagnosis, row)
        yield from self._feed_ending(reader)

    def _hear(self, events: Sequence[Event]) -> Iterator[Finding]:
        """Feed the events that come right after what is known; the others are left for the store."""
        history = self.diagnosis.history
        for event in events:
            if not history.names():
                return  # what came before the first step is in the store alone
            if isinstance(event, StepCompleted) and event.step == history.step + 1:
                yield from feed_event(self.diagnosis, event)
            elif isinstance(event, EvalCompleted | SnapshotSaved) and event.step == history.step:
                values = event.metrics if isinstance(event, EvalCompleted) else event.measures
                yield from self._feed_late(event.step, dict(values))

    def _feed_ending(self, reader: StoreReader) -> tuple[Finding, ...]:
        """Feed the error by which the run ended, once."""
        run = reader.run(self.run_id)
        if self._has_ended or run is None or run.status is not RunStatus.FAILED:
            return ()
        self._has_ended = True
        return self.diagnosis.feed_failure(run.message)

    def _begin_anew(self, reader: StoreReader) -> None:
        """Forget everything: steps that were read may have been superseded."""
        run = reader.run(self.run_id)
        if run is None:
            raise BadInputError(f"There is no run {self.run_id} in this database; `grpo-gui runs` lists them.")
        self.diagnosis = Diagnosis(facts_of_run(run))
        self._has_ended = False

    def _feed_late(self, step: int, values: Mapping[str, float]) -> tuple[Finding, ...]:
        """Feed what was measured after the newest step, where it came after that step was read."""
        history = self.diagnosis.history
        late = {
            name: value for name, value in values.items() if name.startswith(AFTER_STEP) and not history.is_fresh(name)
        }
        return self.diagnosis.feed_after(step, late) if late else ()


def diagnose_run(reader: StoreReader, run_id: int) -> Diagnosis:
    """Diagnose a stored run in one pass.

    Raises:
        BadInputError: the run is not in the database.
    """
    run = RunDiagnosis(run_id)
    run.update(reader)
    return run.diagnosis


def feed_stored(diagnosis: Diagnosis, row: StoredStep) -> tuple[Finding, ...]:
    """Feed one stored step; return the findings that changed by it."""
    if not row.groups and all(name.startswith(AFTER_STEP) for name in row.metrics):
        return diagnosis.feed_after(row.step, row.metrics)
    return diagnosis.feed_step(row.step, row.metrics, row.groups)


def feed_event(diagnosis: Diagnosis, event: Event) -> tuple[Finding, ...]:
    """Feed one event of the run; return the findings that changed by it. Events of no interest change nothing."""
    match event:
        case StepCompleted():
            return diagnosis.feed_step(event.step, dict(event.metrics), event.groups)
        case EvalCompleted():
            return diagnosis.feed_after(event.step, dict(event.metrics))
        case SnapshotSaved():
            return diagnosis.feed_after(event.step, dict(event.measures))
        case RunFailed():
            return diagnosis.feed_failure(event.message)
        case _:
            pass
    return ()


def finding_records(diagnosis: Diagnosis) -> tuple[FindingRecord, ...]:
    """All findings in the form that `StoreWriter.save_findings` takes."""
    return tuple(
        FindingRecord(
            detector=one.detector,
            title=one.title,
            severity=one.severity.label,
            state=one.state.value,
            root=one.root,
            onset=one.onset,
            noticed=one.noticed,
            headline=one.headline,
            detail=one.detail,
            action=one.action.sentence,
            document=finding_to_json(one),
        )
        for one in diagnosis.findings
    )


def stored_findings(reader: StoreReader, run_id: int) -> tuple[Finding, ...]:
    """The findings of a run as they were saved last; those of another version of the program are left out."""
    found = []
    for record in reader.findings(run_id):
        try:
            found.append(finding_from_json(record.document))
        except BadInputError:
            continue
    return tuple(found)


def findings_of(reader: StoreReader, run_id: int) -> tuple[Finding, ...]:
    """The saved findings of a run; where there are none it is diagnosed, which takes a millisecond a step.

    Raises:
        BadInputError: the run is not in the database.
    """
    return stored_findings(reader, run_id) or diagnose_run(reader, run_id).findings
