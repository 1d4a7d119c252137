"""Make a snapshot: the model's own files, a linked training state, and the manifest over all of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grpo_gui.errors import ModelError, SnapshotError
from grpo_gui.snapshots.folders import entries_of, files_of, link_or_copy, new_folder, sha256_of, share_equal_files
from grpo_gui.snapshots.manifest import MANIFEST, TRAINING_STATE, Manifest, manifest_to_json


class SavedSnapshot(NamedTuple):
    """A snapshot on the disk; `sha256` is that of its manifest, which holds those of the other files."""

    path: Path
    manifest: Manifest
    sha256: str


def save_snapshot(
    target: Path, manifest: Manifest, write_model: Callable[[Path], None], state: Path | None = None
) -> SavedSnapshot:
    """Write a snapshot, whole or not at all, never over something that is there.

    Args:
        target: the folder to make.
        manifest: everything but its `files`.
        write_model: writes the model's files into the folder it is given.
        state: the folder of a saved training state to take along; its files are shared, not copied.

    Raises:
        SnapshotError: the disk refuses, or `target` is there already.
    """
    try:
        with new_folder(target) as partial:
            write_model(partial)
            for path in files_of(state) if state is not None else []:
                link_or_copy(path, partial / TRAINING_STATE / path.name)
            entries = entries_of(partial)
            share_equal_files(partial, entries)
            complete = replace(manifest, files=entries)
            (partial / MANIFEST).write_text(manifest_to_json(complete), encoding="utf-8")
        return SavedSnapshot(target, complete, sha256_of(target / MANIFEST))
    except ModelError as error:
        raise SnapshotError(f"The snapshot {target.name} was not made. {error}") from error
