"""Turns what SQLite says into sentences that name the file and the next step."""

import sqlite3
from pathlib import Path

from grpo_gui.errors import StoreError

_ADVICE = {
    sqlite3.SQLITE_FULL: "The disk is full: {path} cannot grow. Free some space on it.",
    sqlite3.SQLITE_READONLY: "The database {path} may not be written. Check the rights of the file and of its folder, "
    "or choose another database.",
    sqlite3.SQLITE_CANTOPEN: "The database {path} cannot be opened. Check that its folder exists and may be written, "
    "or choose another database.",
    sqlite3.SQLITE_NOTADB: "{path} is not a database of grpo-gui. It was left as it is; choose another file.",
    sqlite3.SQLITE_CORRUPT: "The database {path} is damaged. Make a copy of it, then try `sqlite3 FILE .recover`, "
    "or choose another database.",
    sqlite3.SQLITE_BUSY: "Another program holds the database {path} locked. Close it, or wait until it is done.",
    sqlite3.SQLITE_LOCKED: "Another program holds the database {path} locked. Close it, or wait until it is done.",
    sqlite3.SQLITE_IOERR: "The disk with the database {path} reports an error. Check the disk and its connection.",
    sqlite3.SQLITE_AUTH: "The database {path} may not be opened by this user. Choose another database.",
    sqlite3.SQLITE_PERM: "The database {path} may not be opened by this user. Choose another database.",
}


def sentence(error: sqlite3.Error, path: Path) -> str:
    """The failure as a sentence for the user."""
    advice = _ADVICE.get(_primary_code(error))
    if advice is None:
        return f"The database {path} reports: {error}. Choose another database, or report this."
    return advice.format(path=path)


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """The failure as an error to raise."""
    return StoreError(sentence(error, path))


def says_read_only(error: sqlite3.Error) -> bool:
    """True where SQLite wants to write beside a database that it only reads, and may not."""
    return _primary_code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def comes_from_the_world(error: sqlite3.Error) -> bool:
    """True for disk, lock and rights, which may pass; False for a value or statement that will never fit."""
    return _primary_code(error) in _ADVICE


def _primary_code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)  # absent on errors of the Python module itself
    return code & 0xFF
