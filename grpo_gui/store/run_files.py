"""One run as a database of its own that any installation opens, and such files taken in again."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from grpo_gui.store.connections import connect_reader, connect_writer, readable_uri
from grpo_gui.store.failures import store_error
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.run_copy import Chunk, RunCopy, attached
from grpo_gui.store.schema import APPLICATION_ID, SCHEMA_VERSION

T = TypeVar("T")

_DATABASE_HEAD = b"SQLite format 3\0"

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


class Receiver(Protocol):
    """What taking in a run asks of the store's writer."""

    def with_attached(self, path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in one transaction of the writer's thread with another database attached."""

    def delete_some(self, run_id: int) -> int | None:
        """Delete some rows of an unfinished run."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of taking in a file: ids of new runs, and of those that were there already."""

    new: tuple[int, ...]
    known: tuple[int, ...]


def is_database(path: Path) -> bool:
    """True for a file that begins like a database."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_DATABASE_HEAD)) == _DATABASE_HEAD


def write_run_file(database: Path, run_id: int, target: Path, progress: Progress, cancelled: Cancelled) -> bool:
    """Write a database with just this run to `target`, a path that nothing has yet; False when it was cancelled.

    Samples, curves, notes, tags, findings and ratings are in it; snapshots and training states are folders and are not.

    Raises:
        StoreError: the database cannot be read, or the file cannot be written; nothing is left of it then.
    """
    connect_reader(database).close()  # refuses what this version cannot read
    is_whole = False
    try:
        with closing(connect_writer(target)) as connection:
            with attached(connection, database):
                is_whole = _copy_at_once(connection, run_id, progress, cancelled)
            connection.execute("PRAGMA journal_mode = DELETE")  # one file, without a second one beside it
    except sqlite3.Error as error:
        raise store_error(error, target) from error
    finally:
        if not is_whole:
            for ending in ("", "-wal", "-shm", "-journal"):
                target.with_name(target.name + ending).unlink(missing_ok=True)
    return is_whole


def take_in(file: Path, writer: Receiver, progress: Progress, cancelled: Cancelled) -> TakenIn:
    """Copy every run of a database of ours into the writer's; runs that are there already are left alone.

    A run that was cut off, by `cancelled` or an error, is deleted again; after a crash it lies unfinished in the bin.

    Raises:
        StoreError: the file is no database of ours, or cannot be read.
    """
    with _of_this_version(file) as readable:
        with StoreReader(readable) as reader:
            runs = sorted(reader.runs(), key=lambda run: run.id)
        new, known = [], []
        for run in runs:
            found = writer.with_attached(readable, partial(_known_id, run.id))
            if found is not None:
                known.append(found)
            elif copied := _take_in_run(readable, run.id, writer, progress, cancelled):
                new.append(copied)
            else:
                break
    return TakenIn(tuple(new), tuple(known))


def _copy_at_once(connection: sqlite3.Connection, run_id: int, progress: Progress, cancelled: Cancelled) -> bool:
    """Copy in one transaction, so that a run that trains is copied as it stands at one moment."""
    copy = RunCopy(connection, run_id)
    copy.begin()
    chunks = copy.chunks()
    for place, chunk in enumerate(chunks):
        if cancelled():
            return False
        copy.copy(chunk)
        progress(place + 1, len(chunks))
    copy.finish()
    return True


def _known_id(run_id: int, connection: sqlite3.Connection) -> int | None:
    return RunCopy(connection, run_id).known_id()


def _begun(run_id: int, connection: sqlite3.Connection) -> RunCopy:
    copy = RunCopy(connection, run_id)
    copy.begin()
    return copy


def _take_in_run(file: Path, run_id: int, writer: Receiver, progress: Progress, cancelled: Cancelled) -> int | None:
    """Copy one run; its new id, None when it was cancelled."""
    copy = writer.with_attached(file, partial(_begun, run_id))
    whole = False
    try:
        chunks = writer.with_attached(file, lambda _: copy.chunks())
        for place, chunk in enumerate(chunks):
            if cancelled():
                return None
            writer.with_attached(file, partial(_copy_chunk, copy, chunk))
            progress(place + 1, len(chunks))
        writer.with_attached(file, lambda _: copy.finish())
        whole = True
    finally:
        while not whole and writer.delete_some(copy.run_id) is not None:
            pass
    return copy.run_id


def _copy_chunk(copy: RunCopy, chunk: Chunk, _: sqlite3.Connection) -> None:
    copy.copy(chunk)


@contextmanager
def _of_this_version(file: Path) -> Iterator[Path]:
    """The file itself, or where it is older a copy that was brought up to date."""
    if not _is_older(file):
        connect_reader(file).close()  # refuses what this version cannot read
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "older.db"
        with closing(sqlite3.connect(readable_uri(file), uri=True)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        connect_writer(copy).close()
        yield copy


def _is_older(file: Path) -> bool:
    """True for a database of ours of an earlier version."""
    try:
        with closing(sqlite3.connect(readable_uri(file), uri=True)) as connection:
            owner = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error:
        return False
    return bool(owner == APPLICATION_ID and 0 < version < SCHEMA_VERSION)
