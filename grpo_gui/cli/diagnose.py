"""`grpo-gui diagnose`: what is wrong with a stored run, or with the metrics in a file."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from grpo_gui.cli.console import standard_output
from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.diagnose.codec import finding_to_dict
from grpo_gui.diagnose.dead_compute import dead_compute
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.learning import Verdict, learning_report
from grpo_gui.diagnose.metric_rows import diagnose_rows
from grpo_gui.diagnose.reading import Missing
from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.outside.diagnosing import read_run
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.diagnosing import diagnose_run

_DATABASE_HEAD = b"SQLite format 3\0"


@click.command()
@click.argument("target", metavar="RUN|PATH")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of sentences.")
@database_option
@click.pass_context
def diagnose(context: click.Context, target: str, as_json: bool, database: Path | None) -> None:
    """Say what is wrong with a run.

    RUN is its number in the database (see `grpo-gui runs`); PATH a database (its newest run), or what `grpo-gui import`
    takes: a TRL output folder, a trainer_state.json, TensorBoard, verl, CSV or JSON lines. Exit code: 0 no findings,
    1 findings, 2 bad input.
    """
    try:
        title, diagnosis, muted = _open(target, chosen_database(context, database))
    except StoreError as error:
        raise BadInputError(str(error)) from error  # 1 means findings
    output = standard_output()
    if as_json:
        output.write(json.dumps(_document(title, diagnosis, muted), ensure_ascii=False, allow_nan=False) + "\n")
    else:
        for line in report_lines(title, diagnosis, muted):
            output.write(line + "\n")
    counted = [one for one in diagnosis.findings if one.is_finding and one.detector not in muted]
    sys.exit(1 if counted else 0)


def _open(target: str, database: Path) -> tuple[str, Diagnosis, frozenset[str]]:
    """A title, the diagnosis, and what its user has muted.

    Raises:
        BadInputError: the target is neither a run nor a file with metrics.
        StoreError: the database cannot be read.
    """
    path = Path(target)
    if target.isdecimal() and not path.exists():
        return _stored(database, int(target))
    if not path.exists():
        raise BadInputError(
            f"{target!r} is neither the number of a run nor a file or folder; `grpo-gui runs` lists the runs."
        )
    if path.is_file() and _is_database(path):
        return _stored(path, None)
    run = read_run(path)
    return run.name, diagnose_rows(run), frozenset()


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_DATABASE_HEAD)) == _DATABASE_HEAD


def _stored(database: Path, run_id: int | None) -> tuple[str, Diagnosis, frozenset[str]]:
    with StoreReader(database) as reader:
        if run_id is None:
            runs = reader.runs()
            if not runs:
                raise BadInputError(f"{database} holds no run yet.")
            run_id = runs[0].id
        run = reader.run(run_id)
        if run is None:
            raise BadInputError(f"There is no run {run_id} in {database}; `grpo-gui runs` lists them.")
        return f"Run {run_id}, {run.name}", diagnose_run(reader, run_id), reader.muted_findings(run_id)


def report_lines(title: str, diagnosis: Diagnosis, muted: frozenset[str]) -> Iterator[str]:
    """The diagnosis in sentences."""
    findings = [one for one in diagnosis.findings if one.is_finding]
    shown = [one for one in findings if one.detector not in muted]
    count = "no findings" if not shown else "1 finding" if len(shown) == 1 else f"{len(shown)} findings"
    yield f"{title}, {diagnosis.history.rows} steps: {count}."
    if diagnosis.mastered_since is not None:
        yield f"Solved, or nearly, since step {diagnosis.mastered_since}."
    for one in shown:
        yield ""
        yield from _finding_lines(one, diagnosis)
    for one in findings:
        if one.detector in muted:
            yield ""
            yield f"Muted: {one.title.lower()}, since step {one.onset}."
    yield ""
    report = learning_report(diagnosis.history, diagnosis.prompts)
    for progress in report.progress:
        if progress.verdict is not Verdict.NOT_ENOUGH:
            yield progress.sentence
    yield dead_compute(diagnosis.history).sentence
    yield from _missing_lines(diagnosis)


def _finding_lines(one: Finding, diagnosis: Diagnosis) -> Iterator[str]:
    state = "" if one.state is FindingState.OPEN else ", closed since"
    yield f"{one.title} ({one.severity.label}, since step {one.onset}{state})"
    yield f"  {one.headline}"
    yield f"  {one.detail}"
    for cause in one.causes:
        yield f"  Likely cause: {cause}"
    yield f"  What to do: {one.action.sentence}"
    if one.evidence:
        yield f"  Samples that show it: {'; '.join(map(_place, one.evidence))}"
    explained = [other.title.lower() for other in diagnosis.symptoms_of(one.detector)]
    if explained:
        yield f"  It also explains: {', '.join(explained)}."


def _place(ref: SampleRef) -> str:
    answer = "" if ref.completion is None else f" answer {ref.completion + 1}"
    return f"step {ref.step} group {ref.group + 1}{answer}"


def _missing_lines(diagnosis: Diagnosis) -> Iterator[str]:
    titles = {detector.name: detector.title.lower() for detector in diagnosis.detectors}
    for reason in Missing:
        names = [titles[name] for name, reading in diagnosis.readings().items() if reading is reason]
        if names:
            yield f"Not judged ({reason.value}): {', '.join(names)}."


def _document(title: str, diagnosis: Diagnosis, muted: frozenset[str]) -> dict[str, Any]:
    report = learning_report(diagnosis.history, diagnosis.prompts)
    meter = dead_compute(diagnosis.history)
    return {
        "run": title,
        "steps": diagnosis.history.rows,
        "solved_since": diagnosis.mastered_since,
        "findings": [finding_to_dict(one) | {"muted": one.detector in muted} for one in diagnosis.findings],
        "progress": [
            {"subject": one.subject, "verdict": one.verdict.value, "sentence": one.sentence} for one in report.progress
        ],
        "never_solved": [one.prompt for one in report.never_solved],
        "always_solved": [one.prompt for one in report.always_solved],
        "dead_compute": {"share": meter.share, "sentence": meter.sentence},
        "not_judged": {
            name: reading.value for name, reading in diagnosis.readings().items() if isinstance(reading, Missing)
        },
    }
