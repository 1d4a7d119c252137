"""What the diagnosis asks of a run that is not in the database: a name, its settings, its rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from grpo_gui.diagnose.engine import AFTER_STEP, Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.sampled import SampledGroup


class MetricRow(Protocol):
    """One step of a run that can be diagnosed; `groups` is empty where no samples were recorded."""

    @property
    def step(self) -> int:
        """The step, rising; it falls where the run was resumed from an earlier one."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """By TRL's names."""

    @property
    def groups(self) -> Sequence[SampledGroup]:
        """The samples of the step."""


class DiagnosableRun(Protocol):
    """What an importer hands to the diagnosis: a name, what is known of the settings, and the rows."""

    @property
    def name(self) -> str:
        """For people."""

    @property
    def facts(self) -> RunFacts:
        """Unknown settings are None."""

    def rows(self) -> Iterable[MetricRow]:
        """In the order in which they were recorded."""


@dataclass(frozen=True, slots=True)
class Row:
    """One step of a run that is not in the database."""

    step: int
    metrics: Mapping[str, float]
    groups: tuple[SampledGroup, ...] = ()


def diagnose_rows(run: DiagnosableRun) -> Diagnosis:
    """Diagnose a run of any origin in one pass."""
    diagnosis = Diagnosis(run.facts)
    for row in run.rows():
        feed_row(diagnosis, row)
    return diagnosis


def feed_row(diagnosis: Diagnosis, row: MetricRow) -> None:
    """Feed one row; a row that holds held-out metrics only is an evaluation after its step."""
    if not row.groups and row.metrics and all(name.startswith(AFTER_STEP) for name in row.metrics):
        diagnosis.feed_after(row.step, row.metrics)
    else:
        diagnosis.feed_step(row.step, row.metrics, row.groups)
