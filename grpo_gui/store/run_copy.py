"""Copies one run from an attached database into another one, chunk by chunk, under ids that are free there."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grpo_gui.errors import StoreError
from grpo_gui.events import RunStatus
from grpo_gui.store.connections import readable_uri
from grpo_gui.store.encoding import encode_text
from grpo_gui.store.run_tables import OF_RUN, ROOT, RunTables

SOURCE = "source"  # the name under which the other database is attached
GROUPS_AT_ONCE = 200
# What only has a meaning beside the files and the process of the run.
LEFT_OUT = frozenset({"commands", "snapshots", "training_states", "pair_ratings"})
# Columns that name rows without declaring it, for speed.
_UNDECLARED = {("completions", "run_id"): "runs", ("completions", "prompt_id"): "prompts"}
_COPIED_ALIVE = "It was copied while it was training."


@contextmanager
def attached(target: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Begin a transaction that reads another database as `source`; it ends with the block.

    Only the target is locked: `BEGIN IMMEDIATE` would keep a trainer from writing to the other one.
    """
    target.execute(f"ATTACH ? AS {SOURCE}", (readable_uri(path),))
    try:
        target.execute("BEGIN")
        target.execute("UPDATE main.runs SET unfinished = unfinished WHERE id IS NULL")  # takes the lock now
        yield
        target.execute("COMMIT")
    finally:
        if target.in_transaction:
            target.execute("ROLLBACK")
        target.execute(f"DETACH {SOURCE}")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows that are copied in one transaction: those of `root` under `condition`, and everything below them."""

    root: str
    condition: str


class RunCopy:
    """The copy of one run; each method runs in a transaction of the target. The source is attached as `source`."""

    def __init__(self, target: sqlite3.Connection, run_id: int) -> None:
        self._target, self._source_id = target, run_id
        self._tables = RunTables(target)
        self._groups_below = {"groups", *self._tables.below("groups")}
        self._series_below = {"series", *self._tables.below("series")}
        self.run_id = 0  # in the target, once it has begun

    def known_id(self) -> int | None:
        """The id of this run where the target has it already: made at the same moment, with the same seed.

        Runs made elsewhere have the times of their files, which several may share; they come from different places.
        """
        row = self._target.execute(
            f"SELECT t.id FROM {SOURCE}.runs s JOIN main.runs t ON t.created_s = s.created_s AND t.seed = s.seed "
            "AND t.task = s.task AND t.program = s.program WHERE s.id = ? AND t.unfinished = 0 "
            "AND t.binned_s IS NULL "
            f"AND (SELECT place FROM {SOURCE}.outside_runs WHERE run_id = s.id) IS "
            "(SELECT place FROM main.outside_runs WHERE run_id = t.id)",
            (self._source_id,),
        ).fetchone()
        return None if row is None else int(row[0])

    def begin(self) -> None:
        """Add the run itself, unfinished and in the bin, so that nobody sees it and a cut-off copy can be deleted."""
        columns = [name for name in _columns(self._target, ROOT) if name != "id"]
        active = ", ".join(f"'{status.value}'" for status in RunStatus if status.is_active)
        stopped = f"status IN ({active})"
        values = {
            **{name: name for name in columns},
            **dict.fromkeys(("parent_run_id", "parent_step", "pid", "process_started_s", "archived_s"), "NULL"),
            "status": f"CASE WHEN {stopped} THEN '{RunStatus.STOPPED.value}' ELSE status END",
            "message": f"CASE WHEN {stopped} THEN :alive ELSE message END",
            "ended_s": f"CASE WHEN {stopped} THEN :now ELSE ended_s END",
            "binned_s": ":now",
            "unfinished": "1",
        }
        cursor = self._target.execute(
            f"INSERT INTO main.runs ({', '.join(columns)}) SELECT {', '.join(values[name] for name in columns)} "
            f"FROM {SOURCE}.runs WHERE id = :run",
            {"run": self._source_id, "now": time.time(), "alive": encode_text(_COPIED_ALIVE)},
        )
        if not cursor.rowcount:
            raise StoreError(f"Run {self._source_id} is not in the database; `grpo-gui runs` lists the runs.")
        self.run_id = int(cursor.lastrowid or 0)

    def chunks(self) -> list[Chunk]:
        """Everything that belongs to the run, in pieces."""
        return [*self._group_chunks(), *self._series_chunks(), Chunk(ROOT, OF_RUN)]

    def copy(self, chunk: Chunk) -> None:
        """Copy the rows of a chunk."""
        tables = self._tables_of(chunk)
        if "groups" in tables:
            self._copy_prompts(chunk)
        offsets = {table: self._offset(table, chunk) for table in tables if self._has_id(table)}
        for table in tables:
            self._copy_table(table, chunk, offsets)

    def finish(self) -> None:
        """Let the run be seen."""
        self._target.execute("UPDATE main.runs SET unfinished = 0, binned_s = NULL WHERE id = ?", (self.run_id,))

    # --- inside

    def _group_chunks(self) -> Iterator[Chunk]:
        rows = self._target.execute(
            f"SELECT id FROM {SOURCE}.groups WHERE run_id = ? ORDER BY id", (self._source_id,)
        ).fetchall()
        for first in range(0, len(rows), GROUPS_AT_ONCE):
            ids = ", ".join(str(row[0]) for row in rows[first : first + GROUPS_AT_ONCE])
            yield Chunk("groups", f"id IN ({ids})")

    def _series_chunks(self) -> Iterator[Chunk]:
        rows = self._target.execute(f"SELECT id FROM {SOURCE}.series WHERE run_id = ? ORDER BY id", (self._source_id,))
        for (series_id,) in rows.fetchall():
            yield Chunk("series", f"id = {series_id}")

    def _tables_of(self, chunk: Chunk) -> list[str]:
        """The tables that a chunk fills, parents first; those of the run itself are what no other chunk has."""
        if chunk.root == "groups":
            wanted = self._groups_below
        elif chunk.root == "series":
            wanted = self._series_below
        else:
            wanted = set(self._tables.names) - self._groups_below - self._series_below - {ROOT}
        return [table for table in self._tables.names if table in wanted and table not in LEFT_OUT]

    def _copy_prompts(self, chunk: Chunk) -> None:
        columns = ", ".join(name for name in _columns(self._target, "prompts") if name != "id")
        self._target.execute(
            f"INSERT OR IGNORE INTO main.prompts ({columns}) SELECT {columns} FROM {SOURCE}.prompts "
            f"WHERE id IN (SELECT prompt_id FROM {SOURCE}.groups WHERE {chunk.condition})"
        )

    def _offset(self, table: str, chunk: Chunk) -> int:
        """What is added to the ids of a chunk's rows so that they come after all that are there."""
        where = self._tables.condition(table, chunk.root, chunk.condition, SOURCE)
        newest = self._target.execute(f"SELECT coalesce(max(id), 0) FROM main.{table}").fetchone()[0]
        oldest = self._target.execute(f"SELECT min(id) FROM {SOURCE}.{table} WHERE {where}", self._values).fetchone()[0]
        return int(newest) + 1 - int(oldest if oldest is not None else 1)

    def _copy_table(self, table: str, chunk: Chunk, offsets: dict[str, int]) -> None:
        columns = _columns(self._target, table)
        parents = {link.column: link.parent for link in self._tables.all_links_of(table)}
        parents |= {column: parent for (name, column), parent in _UNDECLARED.items() if name == table}
        values = [self._value(column, table, parents.get(column), offsets) for column in columns]
        where = [self._tables.condition(table, chunk.root, chunk.condition, SOURCE)]
        way = self._tables.way(table, chunk.root) if table != chunk.root else None
        others = [link for link in self._tables.links_of(table) if link != way and link.parent != table]
        where += [self._whole(link.column, link.parent) for link in others]
        self._target.execute(
            f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {SOURCE}.{table} AS t "
            f"WHERE {' AND '.join(where)} ORDER BY 1",
            self._values,
        )

    def _value(self, column: str, table: str, parent: str | None, offsets: dict[str, int]) -> str:
        """The expression of a copied column."""
        if parent == ROOT:
            return str(self.run_id)
        if parent == "prompts":
            return (
                f"(SELECT new.id FROM {SOURCE}.prompts old JOIN main.prompts new ON new.digest = old.digest "
                f"WHERE old.id = t.{column})"
            )
        if parent is not None:
            return f"t.{column} + {offsets[parent]}" if parent in offsets else "NULL"
        return f"t.id + {offsets[table]}" if column == "id" and table in offsets else f"t.{column}"

    def _whole(self, column: str, parent: str) -> str:
        """Leave out rows that name a row of another run."""
        if parent == ROOT:
            return f"t.{column} = :run"
        if parent in LEFT_OUT:
            return f"t.{column} IS NULL"
        where = self._tables.condition(parent, ROOT, OF_RUN, SOURCE)
        return f"(t.{column} IS NULL OR t.{column} IN (SELECT id FROM {SOURCE}.{parent} WHERE {where}))"

    def _has_id(self, table: str) -> bool:
        return "id" in _columns(self._target, table)

    @property
    def _values(self) -> dict[str, int]:
        return {"run": self._source_id}


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table that can be written."""
    rows = connection.execute(f"PRAGMA main.table_xinfo({table})").fetchall()
    return [row[1] for row in rows if row[6] == 0]
