"""Find the snapshot that a person means: of a run or the latest one, by step, the best, or the newest."""

import math
from collections.abc import Sequence
from pathlib import Path

from grpo_gui.errors import BadInputError, SnapshotError
from grpo_gui.paths import run_files_dir
from grpo_gui.snapshots.shelf import HELD_OUT, shelf_folder
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_snapshots import SnapshotRecord

LATEST, BEST = "latest", "best"


def best_of(records: Sequence[SnapshotRecord]) -> SnapshotRecord | None:
    """The snapshot with the highest held-out reward, the earliest of several; None when none was measured."""
    known = [record for record in records if math.isfinite(record.metrics.get(HELD_OUT, math.nan))]
    return max(known, key=lambda record: (record.metrics[HELD_OUT], -record.step), default=None)


def choose(records: Sequence[SnapshotRecord], step: str | None) -> SnapshotRecord:
    """One of a run's snapshots: the newest without `step`, else that of a step, or the "best" by held-out reward.

    Raises:
        BadInputError: there is no such snapshot; the message lists the steps that there are.
    """
    valid = [record for record in records if not record.superseded]
    if not valid:
        raise BadInputError("This run has no snapshots; make one with Ctrl+S while it trains, or choose another run.")
    if step is None:
        return max(valid, key=lambda record: (record.step, record.id))
    if step == BEST:
        found = best_of(valid)
        if found is None:
            raise BadInputError("No snapshot of this run has a held-out reward, so none is the best; name a step.")
        return found
    matching = [record for record in valid if step.isdecimal() and record.step == int(step)]
    if not matching:
        steps = ", ".join(str(number) for number in sorted({record.step for record in valid}))
        raise BadInputError(f"This run has no snapshot of step {step}; there are those of {steps}, and {BEST}.")
    return max(matching, key=lambda record: record.id)


def run_of(reader: StoreReader, name: str) -> int:
    """The id of the run that is named by its number, or of the one with the newest snapshot for "latest".

    Raises:
        BadInputError: there is no such run.
    """
    if name == LATEST:
        newest = reader.newest_run_with_snapshots()
        if newest is None:
            raise BadInputError("No run of this database has a snapshot yet; train one, or name another with --db.")
        return newest
    if not name.isdecimal() or reader.run(int(name)) is None:
        raise BadInputError(f"There is no run {name!r}; grpo-gui runs lists them, and {LATEST!r} is the newest.")
    return int(name)


def locate(record: SnapshotRecord, database: Path) -> Path:
    """The snapshot's folder, also after the database was moved together with the folder of its runs."""
    path = Path(record.path)
    if not path.is_absolute() or not path.exists():
        moved = shelf_folder(run_files_dir(database, record.run_id)) / path.name
        if moved.exists():
            return moved
    return path


def find_snapshot(database: Path, run: str, step: str | None) -> tuple[SnapshotRecord, Path]:
    """The snapshot of a run (its number, or "latest") and its folder.

    Raises:
        BadInputError: no such run or snapshot.
        SnapshotError: its folder is gone.
        StoreError: the database cannot be read.
    """
    with StoreReader(database) as reader:
        record = choose(reader.snapshots(run_of(reader, run)), step)
    path = locate(record, database)
    if not path.is_dir():
        raise SnapshotError(f"The snapshot {path} was moved or deleted; choose another one.")
    return record, path


def find_model(database: Path, text: str) -> str:
    """What a person means by a model: a folder, "builtin", "latest", RUN, or RUN:STEP; returned for loading.

    Raises:
        BadInputError: nothing of it fits.
        SnapshotError: the snapshot's folder is gone.
    """
    if text == "builtin" or Path(text).exists():
        return text
    run, _, step = text.partition(":")
    if run != LATEST and not run.isdecimal():
        raise BadInputError(f"There is no folder {text!r}; name a snapshot's folder, RUN, RUN:STEP or {LATEST}.")
    return str(find_snapshot(database, run, step or None)[1])
