"""Folders that appear whole or not at all, and the hashes of what is in them."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grpo_gui.errors import SnapshotError
from grpo_gui.snapshots.manifest import MANIFEST, FileEntry


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Give a folder to fill; at the end it becomes `target` in one move, after an error nothing is left of it.

    Raises:
        SnapshotError: `target` is there already (it is never overwritten), or the disk refuses.
    """
    if target.exists():
        raise SnapshotError(f"{target} is there already and is not overwritten; choose another name.")
    partial = target.with_name(f".{target.name}.part-{os.getpid()}")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        yield partial
        for path in files_of(partial):
            _sync(path)
        os.rename(partial, target)
        _sync_folder(target.parent)
    except OSError as error:
        raise SnapshotError(
            f"{target} cannot be written ({error.strerror or error}); choose a folder with room and write access."
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def free_name(folder: Path, name: str) -> Path:
    """A path in `folder` that nothing has yet: `name`, else `name-2`, `name-3` and so on."""
    target, number = folder / name, 2
    while target.exists():
        target, number = folder / f"{name}-{number}", number + 1
    return target


def files_of(folder: Path) -> list[Path]:
    """All files below a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def entries_of(folder: Path) -> dict[str, FileEntry]:
    """Hash and size of every file below a folder, but not of the manifest itself."""
    return {
        path.relative_to(folder).as_posix(): FileEntry(sha256_of(path), path.stat().st_size)
        for path in files_of(folder)
        if path.name != MANIFEST
    }


def sha256_of(path: Path) -> str:
    """The hash of a file's contents."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def link_or_copy(source: Path, target: Path) -> None:
    """Make `target` the same file as `source`, or a copy where the file system has no links. Files are never edited."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def share_equal_files(folder: Path, entries: dict[str, FileEntry]) -> None:
    """Keep files with the same contents only once on the disk (the weights and those of the training state)."""
    first: dict[str, Path] = {}
    for name, entry in sorted(entries.items(), key=lambda item: item[0].count("/"), reverse=True):
        path = folder / name
        known = first.setdefault(entry.sha256, path)
        if known is not path and not path.samefile(known):
            path.unlink()
            link_or_copy(known, path)


def disk_bytes(folders: list[Path]) -> int:
    """What folders take on the disk together; a file with several names counts once."""
    sizes = {}
    for folder in folders:
        for path in files_of(folder):
            status = path.stat()
            sizes[status.st_dev, status.st_ino] = status.st_size
    return sum(sizes.values())


def _sync(path: Path) -> None:
    with path.open("r+b") as file:  # Windows flushes writable files only
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # Windows cannot open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
