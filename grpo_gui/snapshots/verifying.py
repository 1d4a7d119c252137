"""Tells whether a snapshot is what was written: every file there, of the right size and hash."""

from pathlib import Path

from grpo_gui.errors import SnapshotError
from grpo_gui.snapshots.folders import sha256_of
from grpo_gui.snapshots.manifest import MANIFEST, TRAINING_STATE, Manifest, read_manifest

_NEXT = "It is not loaded; choose another snapshot."


def verify(folder: Path, *, manifest_sha256: str = "", with_training_state: bool = True) -> Manifest:
    """Check all files of a snapshot and return its manifest.

    Args:
        folder: the snapshot's folder.
        manifest_sha256: the hash that the manifest itself must have, where it is known.
        with_training_state: also check the files that only a resume needs.

    Raises:
        SnapshotError: what differs, as a sentence.
    """
    if not folder.is_dir():
        raise SnapshotError(f"There is no snapshot at {folder}; it was moved or deleted. Choose another one.")
    manifest = read_manifest(folder)
    try:
        if manifest_sha256 and sha256_of(folder / MANIFEST) != manifest_sha256:
            raise SnapshotError(f"{folder / MANIFEST} was changed since the snapshot was made. {_NEXT}")
        for name, entry in manifest.files.items():
            if with_training_state or not name.startswith(f"{TRAINING_STATE}/"):
                _check(folder / name, entry.sha256, entry.size_bytes)
    except OSError as error:
        raise SnapshotError(f"The snapshot {folder} cannot be read ({error.strerror or error}). {_NEXT}") from error
    return manifest


def _check(path: Path, sha256: str, size_bytes: int) -> None:
    if not path.is_file():
        raise SnapshotError(f"The file {path} is missing. {_NEXT}")
    size = path.stat().st_size
    if size != size_bytes:
        raise SnapshotError(f"The file {path} has {size} bytes, but {size_bytes} were written. {_NEXT}")
    if sha256_of(path) != sha256:
        raise SnapshotError(f"The file {path} is not what was written (its hash differs). {_NEXT}")
