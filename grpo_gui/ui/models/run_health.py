"""What the diagnosis knows of a run, as the window needs it: made beside the GUI thread, never changed afterwards."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from grpo_gui.diagnose.dead_compute import DeadCompute, dead_compute
from grpo_gui.diagnose.detectors import DETECTORS
from grpo_gui.diagnose.engine import MOST_OPEN, Diagnosis
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.learning import Progress, learning_report
from grpo_gui.diagnose.prompts import PromptRecord
from grpo_gui.diagnose.reading import Missing
from grpo_gui.diagnose.self_checks import SelfCheck, self_checks
from grpo_gui.store.records import Float64Array

MOST_POINTS = 1_500  # of a measure that are kept for drawing
METER_STEPS = 100  # newest steps that the dead-compute meter looks at


class Measure(NamedTuple):
    """What a detector measured: steps (as float) and values, thinned for drawing."""

    steps: Float64Array
    values: Float64Array


EMPTY_MEASURE = Measure(np.empty(0), np.empty(0))


_TITLES = {detector.name: detector.title for detector in DETECTORS}


@dataclass(frozen=True, slots=True)
class RunHealth:
    """The findings of a run. `curves` are the measures behind them, by detector."""

    run_id: int
    step: int = 0
    rows: int = 0
    findings: tuple[Finding, ...] = ()
    muted: frozenset[str] = frozenset()
    solved_since: int | None = None
    curves: Mapping[str, Measure] = field(default_factory=dict)

    @property
    def open(self) -> tuple[Finding, ...]:
        """What to show now: at most three, the most severe first."""
        shown = [one for one in self.findings if one.state is FindingState.OPEN and one.detector not in self.muted]
        return tuple(shown[:MOST_OPEN])

    def finding(self, detector: str) -> Finding | None:
        """The finding of a detector."""
        return next((one for one in self.findings if one.detector == detector), None)

    def title(self, detector: str) -> str:
        """The title of a finding in the middle of a sentence, also of one that is not among the findings."""
        finding = self.finding(detector)
        known = _TITLES.get(detector, detector) if finding is None else finding.title
        return known.lower()

    def symptoms_of(self, detector: str) -> tuple[Finding, ...]:
        """The findings that a finding explains directly."""
        return tuple(one for one in self.findings if one.root == detector and one.state is FindingState.SYMPTOM)


@dataclass(frozen=True, slots=True)
class RunDetails:
    """What is shown on the Diagnosis page beside the findings."""

    run_id: int
    progress: tuple[Progress, ...]
    never_solved: tuple[PromptRecord, ...]
    always_solved: tuple[PromptRecord, ...]
    meter: DeadCompute
    checks: tuple[SelfCheck, ...]
    missing: tuple[tuple[str, tuple[str, ...]], ...]  # reason, titles of the detectors that cannot judge


def health_of(run_id: int, diagnosis: Diagnosis, muted: Collection[str]) -> RunHealth:
    """What the diagnosis says now."""
    return RunHealth(
        run_id,
        diagnosis.history.step,
        diagnosis.history.rows,
        diagnosis.findings,
        frozenset(muted),
        diagnosis.mastered_since,
        {one.detector: _measure(diagnosis, one.detector) for one in diagnosis.findings},
    )


def details_of(run_id: int, diagnosis: Diagnosis) -> RunDetails:
    """The rest of what the diagnosis knows; takes some milliseconds."""
    report = learning_report(diagnosis.history, diagnosis.prompts)
    return RunDetails(
        run_id,
        report.progress,
        diagnosis.prompts.never_solved(),
        diagnosis.prompts.always_solved(),
        dead_compute(diagnosis.history, METER_STEPS),
        self_checks(diagnosis.history, diagnosis.facts),
        _missing(diagnosis),
    )


def _measure(diagnosis: Diagnosis, detector: str) -> Measure:
    steps, values = diagnosis.measure(detector)
    stride = max(1, -(-len(steps) // MOST_POINTS))
    return Measure(steps[::-1][::stride][::-1].astype(float), values[::-1][::stride][::-1].copy())


def _missing(diagnosis: Diagnosis) -> tuple[tuple[str, tuple[str, ...]], ...]:
    titles = {detector.name: detector.title.lower() for detector in diagnosis.detectors}
    readings = diagnosis.readings()
    found = (
        (reason.value, tuple(titles[name] for name, reading in readings.items() if reading is reason))
        for reason in Missing
    )
    return tuple((reason, names) for reason, names in found if names)
