"""Writes a run to a file whose ending says what it becomes."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from grpo_gui.errors import BadInputError
from grpo_gui.exports.curves import Cancelled, Progress, curve_tables, write_csv, write_parquet
from grpo_gui.exports.report import report_html, run_plots
from grpo_gui.exports.svg import sheet_svg
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.run_files import write_run_file
from grpo_gui.training.diagnosing import findings_of

KINDS = {
    ".csv": "every curve with all points, as a table",
    ".parquet": "every curve with all points, as a Parquet table",
    ".svg": "the plots of the run",
    ".html": "a report to read: curves, settings, best and worst groups, findings",
    ".db": "the whole run as a database of its own",
}
ONE_RUN = frozenset({".svg", ".html", ".db"})


def check_target(target: Path, runs: int, *, replaces: bool = False) -> str:
    """The ending of a target that can be written.

    Raises:
        BadInputError: the ending means nothing here, takes one run only, or the file is there already.
    """
    ending = target.suffix.lower()
    if ending not in KINDS:
        raise BadInputError(f"{target.name} must end in {', '.join(KINDS)}: the ending says what is written.")
    if runs > 1 and ending in ONE_RUN:
        raise BadInputError(f"A {ending} file holds one run; export the runs one by one, or all as .csv or .parquet.")
    if target.exists() and not replaces:
        raise BadInputError(f"{target} is there already and is not overwritten; choose another name.")
    return ending


def export_runs(
    database: Path,
    run_ids: Sequence[int],
    target: Path,
    progress: Progress = lambda _done, _total: None,
    cancelled: Cancelled = lambda: False,
    *,
    replaces: bool = False,
) -> bool:
    """Write runs to a file, a new one unless it `replaces` another; False when it was cancelled.

    The file appears whole or not at all.

    Raises:
        BadInputError: the file's name cannot be used, or a run is not there.
        StoreError: the database cannot be read or the file not be written.
        MissingExtraError: Parquet without pyarrow.
    """
    ending = check_target(target, len(run_ids), replaces=replaces)
    partial = target.with_name(f".{target.name}.part-{os.getpid()}")
    with StoreReader(database) as reader:
        for run_id in run_ids:
            if reader.run(run_id) is None:
                raise BadInputError(f"There is no run {run_id} in {database}; `grpo-gui runs` lists them.")
        try:
            _writers(reader, database, run_ids, progress, cancelled)[ending](partial)
            if cancelled():
                return False
            os.replace(partial, target)
        except OSError as error:
            raise BadInputError(
                f"{target} cannot be written ({error.strerror or error}); choose a folder with room and write access."
            ) from error
        finally:
            partial.unlink(missing_ok=True)
    return True


def _writers(
    reader: StoreReader, database: Path, run_ids: Sequence[int], progress: Progress, cancelled: Cancelled
) -> dict[str, Callable[[Path], object]]:
    run_id = run_ids[0]

    return {
        ".csv": lambda path: write_csv(curve_tables(reader, run_ids, progress, cancelled), path),
        ".parquet": lambda path: write_parquet(curve_tables(reader, run_ids, progress, cancelled), path),
        ".svg": lambda path: _write(path, _sheet(reader, run_id)),
        ".html": lambda path: _write(path, report(reader, run_id)),
        ".db": lambda path: write_run_file(database, run_id, path, progress, cancelled),
    }


def report(reader: StoreReader, run_id: int) -> str:
    """The report of a run; one that was never diagnosed is diagnosed now (seconds for a long run)."""
    return report_html(reader, run_id, findings_of(reader, run_id))


def _sheet(reader: StoreReader, run_id: int) -> str:
    run = reader.run(run_id)
    return sheet_svg("" if run is None else f"{run.name} \u00b7 seed {run.seed}", list(run_plots(reader, run_id)))


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "replace"))
