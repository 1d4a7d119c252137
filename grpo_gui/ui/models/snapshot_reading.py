"""Reads the snapshots of a run beside the GUI thread: from the store, and what lies on the disk."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grpo_gui.errors import SnapshotError
from grpo_gui.paths import run_files_dir
from grpo_gui.snapshots.choosing import best_of, locate
from grpo_gui.snapshots.folders import disk_bytes, files_of
from grpo_gui.snapshots.keeping import KeepRule, Kept, is_pinned, next_to_go, read_rule
from grpo_gui.snapshots.shelf import HELD_OUT, shelf_folder
from grpo_gui.snapshots.verifying import verify
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.store.records_snapshots import SnapshotRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.snapshot_row import FileState, SnapshotRow
from grpo_gui.ui.run_config import config_of

Fingerprint = tuple[tuple[str, int, int], ...]  # name, size and time of each file


@dataclass(frozen=True, slots=True)
class Shelf:
    """The snapshots of a run: rows newest first, the base model last, what they take, and the rule that keeps them."""

    run_id: int
    folder: Path
    rows: tuple[SnapshotRow, ...]
    hidden: tuple[SnapshotRow, ...]  # superseded ones that are left out
    disk_bytes: int
    rule: KeepRule
    next_to_go: Kept | None

    @property
    def count(self) -> int:
        """Snapshots without the base model."""
        return sum(not row.is_base for row in self.rows)


def read_shelf(reader: StoreReader, run: RunRecord, database: Path, *, with_superseded: bool) -> Shelf:
    """Read the snapshots of a run; their files are looked for, but not yet checked."""
    records = reader.snapshots(run.id)
    config = config_of(run) or TrainConfig()  # None: a run of another program, or the router's network
    places = {record.id: locate(record, database) for record in records}
    folder = shelf_folder(run_files_dir(database, run.id))
    valid = [record for record in records if not record.superseded]
    top = best_of(valid)
    rows = [_row(record, places[record.id], config.save_steps, is_best=record is top) for record in records]
    hidden = () if with_superseded else tuple(row for row in rows if row.superseded)
    base = _base_row(reader, run, config)
    rule = read_rule(folder, KeepRule(config.save_total_limit))
    return Shelf(
        run.id,
        folder,
        (*(row for row in rows if row not in hidden), base),
        hidden,
        disk_bytes([path for path in places.values() if path.is_dir()]),
        rule,
        next_to_go(kept_of(rows), rule),
    )


def kept_of(rows: Iterable[SnapshotRow]) -> list[Kept]:
    """The rows as the keep-rule sees them."""
    return [
        Kept(row.path, row.step, row.created_s, row.held_out, row.pinned, row.superseded)
        for row in rows
        if row.path is not None
    ]


def fingerprint(path: Path) -> Fingerprint:
    """Changes whenever a file of the folder does; far quicker than hashing."""
    try:
        return tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files_of(path))
    except OSError:
        return ()


def check_files(row: SnapshotRow) -> tuple[FileState, str]:
    """Hash a snapshot's files: seconds for a large model."""
    if row.path is None:
        return FileState.NOT_COPIED, ""
    try:
        verify(row.path, manifest_sha256=row.sha256)
    except SnapshotError as error:
        return FileState.DAMAGED if row.path.is_dir() else FileState.MISSING, str(error)
    return FileState.VERIFIED, ""


def _row(record: SnapshotRecord, path: Path, save_steps: int, *, is_best: bool) -> SnapshotRow:
    there = path.is_dir()
    return SnapshotRow(
        snapshot_id=record.id,
        step=record.step,
        reason=record.reason,
        save_steps=save_steps,
        reward=record.metrics.get("reward", math.nan),
        held_out=record.metrics.get(HELD_OUT, math.nan),
        kl=record.metrics.get("kl", math.nan),
        size_bytes=record.size_bytes,
        path=path,
        model=str(path),
        sha256=record.sha256,
        created_s=record.created_s,
        has_training_state=record.has_training_state,
        pinned=there and is_pinned(path),
        is_best=is_best,
        superseded=record.superseded,
        files=FileState.CHECKING if there else FileState.MISSING,
        problem="" if there else f"The folder {path} was moved or deleted.",
    )


def _base_row(reader: StoreReader, run: RunRecord, config: TrainConfig) -> SnapshotRow:
    """The model that the run began with: its held-out reward was measured before step 1, which also sampled from it."""
    is_branch = run.parent_run_id is not None
    return SnapshotRow(
        snapshot_id=None,
        step=0,
        reason="base",
        save_steps=0,
        reward=math.nan if is_branch else _value_at(reader, run.id, "reward", 1),
        held_out=math.nan if is_branch else _value_at(reader, run.id, HELD_OUT, 0),
        kl=0.0,
        size_bytes=0,
        path=None,
        model=config.model,
        sha256="",
        created_s=run.created_s,
        has_training_state=False,
        pinned=False,
        is_best=False,
        superseded=False,
        files=FileState.NOT_COPIED,
    )


def _value_at(reader: StoreReader, run_id: int, name: str, step: int) -> float:
    points = reader.points(run_id, name, step - 1 if step else None)
    return float(points.values[0]) if len(points.steps) and points.steps[0] == step else math.nan
