"""Opens the database for the writer and for readers, after looking whether it is one of ours and of our version."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from grpo_gui.errors import MissingDatabaseError, StoreError
from grpo_gui.store.failures import says_read_only, store_error
from grpo_gui.store.schema import APPLICATION_ID, SCHEMA_VERSION, make_migrations

BUSY_TIMEOUT_MS = 5000
MIGRATION_TIMEOUT_MS = 600_000  # with its copy it takes minutes for many gigabytes


def sqlite_version() -> str:
    """The version of the SQLite library in use."""
    return sqlite3.sqlite_version


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open the database for writing; create it when it is not there, migrate it when it is older.

    A copy named `NAME.before-vN.db` is made before a migration. Must run in the thread that uses the connection.

    Raises:
        StoreError: the file cannot be used; it is left as it was.
    """
    _check_place(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {path.parent} for the database cannot be made ({error.strerror}). Choose another database."
        ) from error
    try:
        connection = sqlite3.connect(path.absolute(), uri=True, isolation_level=None)  # others are attached by URI
    except sqlite3.Error as error:
        raise store_error(error, path) from error
    try:
        _prepare(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise store_error(error, path) from error
    except StoreError:
        connection.close()
        raise
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open the database read-only, for the calling thread.

    Raises:
        StoreError: there is no database, or it cannot be read by this version.
    """
    _check_place(path)
    if not path.exists():
        raise MissingDatabaseError(
            f"There is no database at {path}. Start a run to make it, or choose another database."
        )
    try:
        connection = sqlite3.connect(readable_uri(path), uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise store_error(error, path) from error
    try:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        version = _version(connection, path)
        if not version:
            raise MissingDatabaseError(
                f"The database {path} is empty so far. Start a run to fill it, or choose another database."
            )
        if version < SCHEMA_VERSION:
            raise StoreError(
                f"The database {path} was made by an older version of grpo-gui. Open it once in the window, "
                "which brings it up to date and keeps a copy."
            )
    except sqlite3.Error as error:
        connection.close()
        raise store_error(error, path) from error
    except StoreError:
        connection.close()
        raise
    return connection


def readable_uri(path: Path) -> str:
    """How SQLite opens a database without writing to it, in a folder that may not be written as well.

    Raises:
        StoreError: the database has changes in a second file, which SQLite takes up only where it may write.
        sqlite3.Error: it cannot be read.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        if not says_read_only(error):
            raise
        for ending in ("-wal", "-journal"):
            changes = path.with_name(path.name + ending)
            if changes.exists() and changes.stat().st_size:
                raise StoreError(
                    f"The newest changes of the database {path} are in {changes.name}, and they can be read only in a "
                    "folder that may be written. Copy both files to such a folder and open the copy."
                ) from error
        return f"{uri}&immutable=1"  # nothing lies beside it, so the file is all there is
    return uri


def copy_before_migration(path: Path, version: int) -> Path:
    """Copy the database beside itself and return the copy's path. An earlier copy is never overwritten."""
    copy = path.with_name(f"{path.stem}.before-v{version}{path.suffix}")
    number = 2
    while copy.exists():
        copy = path.with_name(f"{path.stem}.before-v{version}-{number}{path.suffix}")
        number += 1
    unfinished = copy.with_name(copy.name + ".part")
    unfinished.unlink(missing_ok=True)
    try:
        # A connection of its own reads: one that holds the write lock cannot be the source of a backup.
        with (
            closing(sqlite3.connect(readable_uri(path), uri=True)) as source,
            closing(sqlite3.connect(unfinished)) as target,
        ):
            source.backup(target)
        unfinished.rename(copy)
    except (sqlite3.Error, OSError) as error:
        unfinished.unlink(missing_ok=True)
        raise StoreError(
            f"The database {path} must be brought up to date, but the copy {copy} that is made before could not be "
            f"written ({error}). Free some space in that folder and try again."
        ) from error
    return copy


def _check_place(path: Path) -> None:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be reached ({error.strerror}). Choose another database."
        ) from error
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a database. Name a file in it, such as {path / 'grpo-gui.db'}.")
    if not path.is_file():
        raise StoreError(f"{path} is not an ordinary file. Choose another database.")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    version = _version(connection, path)
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {64 << 20}")
    connection.execute(f"PRAGMA cache_size = -{64 << 10}")
    if version < SCHEMA_VERSION:
        _migrate(connection, path)
    # Fails now, not in the middle of a run, when the file may not be written. (BEGIN alone would not.)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("ROLLBACK")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. SQLite does not wait here while another process makes the same new database."""
    end_s = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end_s:
                raise
            time.sleep(0.02)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database up to date; where another process is doing that, wait for it."""
    from sqlite_utils import Database

    connection.execute(f"PRAGMA busy_timeout = {MIGRATION_TIMEOUT_MS}")
    # One transaction around all: nobody else migrates meanwhile, and a failure leaves the old version.
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)
        if 0 < version < SCHEMA_VERSION:
            copy_before_migration(path, SCHEMA_VERSION)
        if version < SCHEMA_VERSION:
            make_migrations().apply(Database(connection, execute_plugins=False))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """The schema's version; 0 for an empty file.

    Raises:
        StoreError: it is another program's database, or one of a newer version.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if tables and owner != APPLICATION_ID:
        raise StoreError(
            f"{path} is a database of another program, not of grpo-gui. It was left as it is; choose another file."
        )
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The database {path} was written by a newer version of grpo-gui (schema {version}, this version knows "
            f"{SCHEMA_VERSION}). It was left as it is; update grpo-gui, or choose another database."
        )
    return version
