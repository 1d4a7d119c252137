"""A read-only connection whose failures are sentences."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grpo_gui.store.connections import connect_reader
from grpo_gui.store.encoding import SqlValue
from grpo_gui.store.failures import store_error

Row = tuple[Any, ...]  # what SQLite hands out: the columns' types are those of the statement


_MOST_VALUES = 500


class ReadConnection:
    """Asks the database; used only in the thread that made it."""

    def __init__(self, path: Path) -> None:
        """Open the database read-only.

        Raises:
            StoreError: there is no database, or it cannot be read by this version.
        """
        self._path = path
        self._connection = connect_reader(path)

    def rows(self, sql: str, values: Sequence[SqlValue] | Mapping[str, SqlValue] = ()) -> list[Row]:
        """All rows of a statement.

        Raises:
            StoreError: the database cannot be read.
        """
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def row(self, sql: str, values: Sequence[SqlValue] = ()) -> Row | None:
        """The first row of a statement, None when there is none.

        Raises:
            StoreError: the database cannot be read.
        """
        rows = self.rows(sql, values)
        return rows[0] if rows else None

    def close(self) -> None:
        """Close the connection; calling it again does nothing."""
        self._connection.close()


def parts(values: Sequence[int]) -> Iterator[Sequence[int]]:
    """The values in parts, because a statement takes a limited number of them."""
    for first in range(0, len(values), _MOST_VALUES):
        yield values[first : first + _MOST_VALUES]


def placeholders(values: Iterable[object]) -> str:
    """One question mark per value, for an IN list."""
    return ", ".join("?" for _ in values)
