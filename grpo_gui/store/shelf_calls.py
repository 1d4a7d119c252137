"""The writer's calls about tags, archive, bin, and runs of other databases."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from grpo_gui.store import shelf_writes
from grpo_gui.store.run_copy import attached

T = TypeVar("T")


class ShelfCalls:
    """A part of StoreWriter, which brings the connection and the way into its thread."""

    _connection: sqlite3.Connection

    def _call(self, work: Callable[[], T], *, locked: bool = True) -> T:
        raise NotImplementedError

    def set_tags(self, run_id: int, tags: Sequence[str]) -> None:
        """Replace the tags of a run."""
        self._call(lambda: shelf_writes.set_tags(self._connection, run_id, tags))

    def archive_run(self, run_id: int, archived: bool) -> None:
        """Put a run into the archive, or take it out."""
        self._call(lambda: shelf_writes.archive(self._connection, run_id, archived))

    def remove_note(self, note_id: int) -> None:
        """Delete a note."""
        self._call(lambda: shelf_writes.remove_note(self._connection, note_id))

    def move_to_bin(self, run_id: int) -> None:
        """Move a run to the bin.

        Raises:
            BadInputError: it is training.
        """
        self._call(lambda: shelf_writes.move_to_bin(self._connection, run_id))

    def restore_run(self, run_id: int) -> None:
        """Take a run back out of the bin."""
        self._call(lambda: shelf_writes.restore(self._connection, run_id))

    def begin_deleting(self, run_id: int) -> None:
        """Mark a run in the bin as no longer whole, before its files and rows go."""
        self._call(lambda: shelf_writes.begin_deleting(self._connection, run_id))

    def delete_some(self, run_id: int) -> int | None:
        """Delete some rows of a run whose deletion has begun.

        Returns how many completions were among them, None when the whole run is gone.
        """
        return self._call(lambda: shelf_writes.delete_some(self._connection, run_id))

    def with_attached(self, path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in a transaction of its own with another database attached as `source`."""

        def do() -> T:
            with attached(self._connection, path):
                return work(self._connection)

        return self._call(do, locked=False)
