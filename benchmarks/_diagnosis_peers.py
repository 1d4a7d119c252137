"""First alarms: ours, rldoctor's and rlprobe's, on the same rows."""

from collections.abc import Iterator
from typing import NamedTuple

from rl_doctor.detectors.base import Severity
from rl_doctor.diagnosis import diagnose as rldoctor_diagnose
from rl_doctor.ingest.base import run_from_records
from rlprobe.doctor.engine import diagnose_view
from rlprobe.doctor.runview import RunView

from benchmarks._diagnosis_fixtures import Fixture
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import facts_from_config
from grpo_gui.diagnose.finding import Finding

RLDOCTOR_WARM_UP = 60  # its LiveMonitor's default
RLPROBE_WARM_UP = 30  # its RunWatcher's default


class Alarm(NamedTuple):
    """The first alarm at or after the onset: step and names; None where there was none."""

    step: int | None
    names: tuple[str, ...] = ()


def our_findings(fixture: Fixture) -> tuple[Diagnosis, list[tuple[int, Finding]]]:
    """Feed a fixture step by step; every change of a finding that is no symptom, with its step."""
    diagnosis = Diagnosis(facts_from_config(fixture.config))
    changes = []
    for step, row in fixture.rows:
        for finding in diagnosis.feed_step(step, row, fixture.groups.get(step, ())):
            if finding.is_finding:
                changes.append((step, finding))
    return diagnosis, changes


def our_first(fixture: Fixture) -> Alarm:
    """Our first finding."""
    for step, finding in our_findings(fixture)[1]:
        if step >= fixture.onset:
            return Alarm(step, (finding.detector,))
    return Alarm(None)


def rldoctor_first(fixture: Fixture, every: int) -> Alarm:
    """The first check with a problem of severity warning or worse, as its LiveMonitor counts."""
    records = [{"step": step, **row} for step, row in fixture.rows]
    for count in _checks(fixture, RLDOCTOR_WARM_UP, every):
        run = run_from_records(records[:count], config=dict(fixture.config), name="fixture", source="live")
        problems = [one for one in rldoctor_diagnose(run).problems if one.severity >= Severity.WARNING]
        if problems:
            return Alarm(fixture.rows[count - 1][0], tuple(one.detector for one in problems))
    return Alarm(None)


def rlprobe_first(fixture: Fixture, every: int) -> Alarm:
    """The first check with a finding, as its RunWatcher counts."""
    assert fixture.manifest is not None
    for count in _checks(fixture, RLPROBE_WARM_UP, every):
        newest = fixture.rows[count - 1][0]
        samples = [sample for sample in fixture.samples if sample.step <= newest]
        view = RunView(fixture.manifest, fixture.records[:count], samples_provider=lambda seen=samples: seen)
        findings = [one for one in diagnose_view(view) if one.severity != "info"]
        if findings:
            return Alarm(newest, tuple(one.signature_id.lower() for one in findings))
    return Alarm(None)


def _checks(fixture: Fixture, warm_up: int, every: int) -> Iterator[int]:
    """How many rows there are at each check at or after the onset."""
    for count in range(every, len(fixture.rows) + 1, every):
        if count >= warm_up and fixture.rows[count - 1][0] >= fixture.onset:
            yield count
