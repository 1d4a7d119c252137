"""Brings diagnosis and store together: a stored run goes in, its diagnosis comes out, its findings go back."""

import json

from grpo_gui.diagnose.codec import finding_to_json
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts, facts_from_config
from grpo_gui.diagnose.finding import Finding
from grpo_gui.errors import BadInputError
from grpo_gui.events import EvalCompleted, Event, RunFailed, SnapshotSaved, StepCompleted
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


def diagnose_run(reader: StoreReader, run_id: int) -> Diagnosis:
    """Diagnose a stored run in one pass; feed later events or rows to what is returned.

    Raises:
        BadInputError: the run is not in the database.
    """
    run = reader.run(run_id)
    if run is None:
        raise BadInputError(f"There is no run {run_id} in this database; `grpo-gui runs` lists them.")
    diagnosis = Diagnosis(facts_of_run(run))
    sizes = {snapshot.step: snapshot.size_bytes for snapshot in reader.snapshots(run_id) if not snapshot.superseded}
    for row in reader.diagnosis_steps(run_id):
        feed_stored(diagnosis, row)
        if row.step in sizes:
            diagnosis.feed_values(row.step, _snapshot_values(sizes[row.step]))
    return diagnosis


def feed_stored(diagnosis: Diagnosis, row: StoredStep) -> tuple[Finding, ...]:
    """Feed one stored step; return the findings that changed by it."""
    if not row.groups and all(name.startswith("eval/") for name in row.metrics):
        diagnosis.feed_evaluation(row.step, row.metrics)
        return ()
    return diagnosis.feed_step(row.step, row.metrics, row.groups)


def feed_event(diagnosis: Diagnosis, event: Event) -> tuple[Finding, ...]:
    """Feed one event of the run; return the findings that changed by it. Events of no interest change nothing."""
    match event:
        case StepCompleted():
            return diagnosis.feed_step(event.step, dict(event.metrics), event.groups)
        case EvalCompleted():
            diagnosis.feed_evaluation(event.step, dict(event.metrics))
        case SnapshotSaved():
            diagnosis.feed_values(event.step, _snapshot_values(event.size_bytes))
        case RunFailed():
            return diagnosis.feed_failure(event.message)
        case _:
            pass
    return ()


def _snapshot_values(size_bytes: int) -> dict[str, float]:
    return {"system/snapshot_gb": size_bytes / 1e9}


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
