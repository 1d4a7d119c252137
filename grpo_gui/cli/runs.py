"""`grpo-gui runs`: list the runs of the database, and write some of them to files."""

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from grpo_gui.cli.listing import run_lines
from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.errors import BadInputError
from grpo_gui.exports.writing import KINDS, check_target, export_runs
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.run_files import TakenIn, take_in
from grpo_gui.store.writer import StoreWriter

_ENDINGS = "\n\n".join(f"{ending}  {meaning}" for ending, meaning in KINDS.items())


@click.group(invoke_without_command=True)
@database_option
@click.pass_context
def runs(context: click.Context, database: Path | None) -> None:
    """List the runs of the database, newest first; with `export` write runs to files."""
    if context.invoked_subcommand is not None:
        context.obj = database or context.obj
        return
    for line in run_lines(chosen_database(context, database)):
        click.echo(line)


@runs.command(help=f"Write RUN to a new file; its ending says what is written.\n\n{_ENDINGS}")
@click.argument("run", nargs=-1, required=True, metavar="RUN|latest...")
@click.option("--to", "target", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The new file.")
@database_option
@click.pass_context
def export(context: click.Context, run: tuple[str, ...], target: Path, database: Path | None) -> None:
    """See `help` above."""
    path = chosen_database(context, database)
    run_ids = list(dict.fromkeys(_run_id(path, one) for one in run))
    check_target(target, len(run_ids))
    export_runs(path, run_ids, target, _progress("written"))
    _clear()
    some = f"Run {run_ids[0]} is" if len(run_ids) == 1 else f"Runs {', '.join(map(str, run_ids))} are"
    click.echo(f"{some} in {target}: {KINDS[target.suffix.lower()]} ({_size(target)}).")


def import_database(path: Path, target: Path) -> list[str]:
    """Copy the runs of a database of ours into another one; return sentences about what became of them.

    Raises:
        BadInputError: both are the same file.
        StoreError: one of them cannot be used.
    """
    if target.exists() and path.samefile(target):
        raise BadInputError(f"{path} is the database itself; name another one with --db to copy its runs there.")
    with closing(StoreWriter.open(target)) as writer:
        taken = take_in(path, writer, _progress("copied"), lambda: False)
    _clear()
    return taken_in_lines(path, taken)


def taken_in_lines(path: Path, taken: TakenIn) -> list[str]:
    """What became of the runs of a database."""
    lines = [f"Run {run_id} was imported from {path}." for run_id in taken.new]
    lines += [f"Run {run_id} is in the database already; nothing has changed." for run_id in taken.known]
    return lines or [f"{path} holds no runs."]


def _run_id(database: Path, text: str) -> int:
    if text.isdecimal():
        return int(text)
    if text != "latest":
        raise BadInputError(f"{text!r} is not the number of a run; `grpo-gui runs` lists them.")
    with StoreReader(database) as reader:
        known = reader.runs()
    if not known:
        raise BadInputError(f"There are no runs in {database} yet.")
    return known[0].id


def _size(file: Path) -> str:
    size = file.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _progress(word: str) -> Callable[[int, int], None]:
    if not sys.stderr.isatty():
        return lambda _done, _total: None
    return lambda done, total: click.echo(f"\r{100 * done // max(total, 1)} % {word}", err=True, nl=False)


def _clear() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
