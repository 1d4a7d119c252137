"""Hands a run made elsewhere to the diagnosis without storing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from grpo_gui.diagnose.facts import RunFacts, facts_from_config
from grpo_gui.diagnose.metric_rows import Row
from grpo_gui.outside.assembling import Assembler, merged
from grpo_gui.outside.detecting import find_runs, sources_at
from grpo_gui.outside.importing import describe, run_name
from grpo_gui.outside.pieces import OutsideError
from grpo_gui.outside.source import Source
from grpo_gui.store.records_outside import OutsideStep


@dataclass(frozen=True, slots=True)
class OutsideRows:
    """A run as its files hold it: the DiagnosableRun of everything that can be imported."""

    name: str
    facts: RunFacts
    found: tuple[Row, ...]

    def rows(self) -> tuple[Row, ...]:
        """The rows by step; where the run was resumed from an earlier step, the step falls."""
        return self.found


def read_run(path: Path) -> OutsideRows:
    """Read the run at a path.

    Raises:
        OutsideError: there is none, more than one, or nothing of it can be read.
        MissingExtraError: Parquet files need pyarrow.
    """
    places = find_runs(path)
    if len(places) > 1:
        raise OutsideError(f"{path} holds {len(places)} runs; name one of them, such as {places[0]}.")
    place = places[0].resolve()
    sources = sources_at(place, {})
    info = describe(sources)
    assembler = Assembler(info)
    try:
        rows = tuple(_rows(sources, assembler))
    except OSError as error:
        raise OutsideError(f"{place} cannot be read ({error}); check its disk.") from error
    if not rows:
        problems = [problem.sentence for source in sources for problem in source.problems]
        raise OutsideError(
            f"{path} holds no metrics: rows with a step and numbers are needed. {' '.join(problems[:1])}".rstrip()
        )
    config = dict(info.config) | ({} if info.max_steps is None else {"max_steps": info.max_steps})
    return OutsideRows(run_name(place, info), facts_from_config(config), rows)


def _rows(sources: list[Source], assembler: Assembler) -> Iterator[Row]:
    steps = (step for source, piece in merged(sources, final=True) for step in assembler.steps(source, piece))
    for (number, is_evaluation), parts in groupby(steps, key=lambda step: (step.step, step.is_evaluation)):
        gathered: list[OutsideStep] = list(parts)
        metrics = {metric.name: metric.value for part in gathered for metric in part.metrics}
        groups = () if is_evaluation else tuple(group for part in gathered for group in part.groups)
        if metrics or groups:
            yield Row(number, metrics, groups)
