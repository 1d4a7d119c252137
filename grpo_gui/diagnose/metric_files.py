"""Reads the metrics of a run from a file: a Hugging Face trainer_state.json, JSON lines, or CSV."""

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts, facts_from_config
from grpo_gui.diagnose.sampled import SampledGroup
from grpo_gui.errors import BadInputError

_STEP_NAMES = ("step", "global_step", "_step", "Step", "iteration")


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
    """One step of a file of metrics."""

    step: int
    metrics: Mapping[str, float]
    groups: tuple[SampledGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricFile:
    """The metrics of a run as a file holds them."""

    name: str
    facts: RunFacts
    found: tuple[Row, ...]

    def rows(self) -> tuple[Row, ...]:
        """The rows in the order of the file."""
        return self.found


def diagnose_rows(run: DiagnosableRun) -> Diagnosis:
    """Diagnose a run of any origin in one pass."""
    diagnosis = Diagnosis(run.facts)
    for row in run.rows():
        feed_row(diagnosis, row)
    return diagnosis


def feed_row(diagnosis: Diagnosis, row: MetricRow) -> None:
    """Feed one row; a row that holds held-out metrics only is an evaluation after its step."""
    if not row.groups and row.metrics and all(name.startswith("eval/") for name in row.metrics):
        diagnosis.feed_evaluation(row.step, row.metrics)
    else:
        diagnosis.feed_step(row.step, row.metrics, row.groups)


def read_metric_file(path: Path) -> MetricFile:
    """Read the metrics of a run.

    Raises:
        BadInputError: the file cannot be read, or holds no rows with a step and numbers.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path} cannot be read as text ({error}); give a run's number or its metrics.") from error
    config: Mapping[str, object] = {}
    if path.suffix.lower() == ".csv":
        records: Iterable[Mapping[str, object]] = csv.DictReader(text.splitlines())
    else:
        records, config = _json_records(path, text)
    rows = tuple(_rows(records))
    if not rows:
        raise BadInputError(
            f"{path} holds no metrics: rows with a step and numbers are needed (trainer_state.json, JSON lines or CSV)."
        )
    return MetricFile(path.name, facts_from_config(config), rows)


def _json_records(path: Path, text: str) -> tuple[list[Mapping[str, object]], Mapping[str, object]]:
    """The records of a trainer_state.json, of a JSON array, or of JSON lines; and the settings where it has some."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        return [record for line in text.splitlines() if isinstance(record := _parsed(path, line), dict)], {}
    if isinstance(whole, dict) and isinstance(whole.get("log_history"), list):
        arguments = whole.get("args")
        settings = arguments if isinstance(arguments, dict) else {"max_steps": whole.get("max_steps")}
        return [record for record in whole["log_history"] if isinstance(record, dict)], settings
    if isinstance(whole, list):
        return [record for record in whole if isinstance(record, dict)], {}
    return ([whole] if isinstance(whole, dict) else []), {}


def _parsed(path: Path, line: str) -> object:
    if not line.strip():
        return None
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path} is no JSON: {error.msg} in {line[:40]!r}.") from error


def _rows(records: Iterable[Mapping[str, object]]) -> Iterator[Row]:
    for record in records:
        step = next((number for name in _STEP_NAMES if (number := _number(record.get(name))) is not None), None)
        if step is None or not math.isfinite(step):
            continue
        metrics = {
            _canonical(name): number
            for name, value in record.items()
            if name is not None and name not in _STEP_NAMES and (number := _number(value)) is not None
        }
        if metrics:
            yield Row(int(step), metrics)


def _canonical(name: str) -> str:
    """Names as the trainer logs them: wandb puts train/ before, the Trainer eval_ before held-out metrics."""
    name = name.removeprefix("train/")
    if name.startswith("eval_rewards/") or name in ("eval_reward", "eval_accuracy"):
        return f"eval/{name.removeprefix('eval_')}"
    return name


def _number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(str(value)) if str(value).strip() else None
    except ValueError:
        return None
