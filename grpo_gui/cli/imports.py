"""`grpo-gui import`: runs that were made elsewhere, into the database."""

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.cli.runs import import_database
from grpo_gui.outside.importing import ImportReport, Progress, import_path
from grpo_gui.store.run_files import is_database
from grpo_gui.store.writer import StoreWriter


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@database_option
@click.pass_context
def import_command(context: click.Context, path: Path, database: Path | None) -> None:
    """Import the runs at PATH; what is in the database already is left as it is.

    PATH is a TRL output folder, a trainer_state.json, a TensorBoard folder, verl's logs, metrics or completions as
    CSV, JSON lines or Parquet, or a database of grpo-gui (`grpo-gui runs export` writes one).
    """
    target = chosen_database(context, database)
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_database(path):
        for line in import_database(path, target):
            click.echo(line)
        return
    with closing(StoreWriter.open(target)) as writer:
        for report in import_path(path, writer, progress=_progress()):
            _clear()
            for line in report_lines(report):
                click.echo(line)


def report_lines(report: ImportReport) -> list[str]:
    """What became of a run, in sentences."""
    if not report.has_changed:
        first = f"Run {report.run_id} holds {report.place} already; nothing has changed."
    else:
        done = "was imported" if report.is_new else "was brought up to date"
        first = (
            f"Run {report.run_id} {done} from {report.place}: {report.steps} logged steps, "
            f"{report.completions} completions."
        )
    left_out = [f"Left out: {problem}" for problem in report.problems]
    return [first, *([report.summary] if report.summary else []), *left_out]


def _progress() -> Callable[[Progress], None]:
    if not sys.stderr.isatty():
        return lambda _: None
    return lambda one: click.echo(f"\r{one.steps} steps, {one.completions} completions", err=True, nl=False)


def _clear() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
