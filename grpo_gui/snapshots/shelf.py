"""The snapshots of one run as they lie in its folder: listing them, and letting old ones go."""

import math
import shutil
from contextlib import suppress
from pathlib import Path

from grpo_gui.errors import SnapshotError
from grpo_gui.snapshots.keeping import SUPERSEDED_FILE, KeepRule, Kept, is_pinned, is_superseded, to_remove
from grpo_gui.snapshots.manifest import MANIFEST, read_manifest

FOLDER = "snapshots"
HELD_OUT = "eval/reward"


def shelf_folder(run_files: Path) -> Path:
    """The folder of a run's snapshots inside the folder of its files."""
    return run_files / FOLDER


def snapshot_name(step: int) -> str:
    """The folder name of the snapshot after a step."""
    return f"step-{step:06d}"


def list_snapshots(folder: Path) -> list[Kept]:
    """The snapshots in a run's folder whose manifest can be read, oldest first."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name.startswith(".") or not (path / MANIFEST).is_file():
            continue
        try:
            manifest = read_manifest(path)
        except SnapshotError:
            continue  # a damaged one is never removed by the rule
        held_out = manifest.metrics.get(HELD_OUT, math.nan)
        marks = is_pinned(path), is_superseded(path)
        found.append(Kept(path, manifest.step, manifest.created_s, held_out, *marks))
    return sorted(found, key=lambda snapshot: (snapshot.created_s, snapshot.step))


def apply_rule(folder: Path, rule: KeepRule) -> list[Kept]:
    """Remove what the rule lets go and return it."""
    removed = []
    for snapshot in to_remove(list_snapshots(folder), rule):
        shutil.rmtree(snapshot.path, ignore_errors=True)
        if not snapshot.path.exists():
            removed.append(snapshot)
    return removed


def supersede_after(folder: Path, step: int) -> None:
    """Mark the snapshots of later steps: their run goes on from `step` and does those steps anew."""
    for snapshot in list_snapshots(folder):
        if snapshot.step > step:
            with suppress(OSError):  # only a mark: what counts is the database
                (snapshot.path / SUPERSEDED_FILE).touch()


def sweep(folder: Path) -> None:
    """Remove what a trainer that was killed left half written; only for the trainer of the run."""
    for path in folder.glob(".*.part-*"):
        shutil.rmtree(path, ignore_errors=True)
