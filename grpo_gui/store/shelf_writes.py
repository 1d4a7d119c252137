"""Writes what keeps order among runs: tags, archive, bin, deletion. Runs in the writer's thread and transaction."""

import sqlite3
import time
from collections.abc import Sequence

from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.events import RunStatus
from grpo_gui.store.encoding import encode_text
from grpo_gui.store.liveness import is_alive
from grpo_gui.store.run_tables import OF_RUN, ROOT, RunTables

GROUPS_AT_ONCE = 200


def set_tags(connection: sqlite3.Connection, run_id: int, tags: Sequence[str]) -> None:
    """Replace the tags of a run."""
    require_run(connection, run_id)
    connection.execute("DELETE FROM run_tags WHERE run_id = ?", (run_id,))
    connection.executemany(
        "INSERT INTO run_tags (run_id, position, tag) VALUES (?, ?, ?)",
        [(run_id, position, encode_text(tag)) for position, tag in enumerate(dict.fromkeys(tags))],
    )


def archive(connection: sqlite3.Connection, run_id: int, archived: bool) -> None:
    """Put a run into the archive, or take it out."""
    require_run(connection, run_id)
    connection.execute("UPDATE runs SET archived_s = ? WHERE id = ?", (time.time() if archived else None, run_id))


def remove_note(connection: sqlite3.Connection, note_id: int) -> None:
    """Delete a note."""
    connection.execute("DELETE FROM notes WHERE id = ?", (note_id,))


def move_to_bin(connection: sqlite3.Connection, run_id: int) -> None:
    """Move a run to the bin.

    Raises:
        BadInputError: it is training.
        StoreError: it is not in the database.
    """
    status, pid, started_s, name = require_run(connection, run_id)
    if RunStatus(status).is_active and is_alive(pid, started_s):
        raise BadInputError(f"Run {run_id} ({name}) is {status}; stop it before you delete it.")
    connection.execute("UPDATE runs SET binned_s = ? WHERE id = ?", (time.time(), run_id))


def restore(connection: sqlite3.Connection, run_id: int) -> None:
    """Take a run back out of the bin.

    Raises:
        StoreError: it is not there any more.
    """
    cursor = connection.execute("UPDATE runs SET binned_s = NULL WHERE id = ? AND unfinished = 0", (run_id,))
    if not cursor.rowcount:
        raise StoreError(f"Run {run_id} is not in the bin any more, so it cannot be taken back.")


def begin_deleting(connection: sqlite3.Connection, run_id: int) -> None:
    """Mark a run as no longer whole, before its files and rows go."""
    connection.execute("UPDATE runs SET unfinished = 1 WHERE id = ? AND binned_s IS NOT NULL", (run_id,))


def delete_some(connection: sqlite3.Connection, run_id: int) -> int | None:
    """Delete some rows of an unfinished run, few enough for events to be written in between.

    The run's own row goes last, so that a deletion that is cut off can go on. Returns how many completions were among
    the rows, None when the whole run is gone.
    """
    if connection.execute("SELECT 1 FROM runs WHERE id = ? AND unfinished = 1", (run_id,)).fetchone() is None:
        return None
    tables = RunTables(connection)
    completions = _delete_groups(connection, tables, run_id)
    if completions is not None:
        return completions
    if _delete_series(connection, tables, run_id):
        return 0
    for table in reversed(tables.names):
        if table != ROOT:
            condition = tables.condition(table, ROOT, OF_RUN)
            connection.execute(f"DELETE FROM {table} WHERE {condition}", {"run": run_id})
    connection.execute("UPDATE runs SET parent_run_id = NULL, parent_step = NULL WHERE parent_run_id = ?", (run_id,))
    connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
    return None


def require_run(connection: sqlite3.Connection, run_id: int) -> tuple[str, int | None, float | None, str]:
    """Status, process and name of a run.

    Raises:
        StoreError: it is not in the database.
    """
    row = connection.execute("SELECT status, pid, process_started_s, name FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise StoreError(f"Run {run_id} is not in the database; choose another run.")
    return row[0], row[1], row[2], row[3]


def _delete_groups(connection: sqlite3.Connection, tables: RunTables, run_id: int) -> int | None:
    rows = connection.execute(
        "SELECT id, prompt_id FROM groups WHERE run_id = ? LIMIT ?", (run_id, GROUPS_AT_ONCE)
    ).fetchall()
    if not rows:
        return None
    groups = f"id IN ({', '.join(str(row[0]) for row in rows)})"
    completions = 0
    for table in tables.below("groups"):
        gone = connection.execute(f"DELETE FROM {table} WHERE {tables.condition(table, 'groups', groups)}").rowcount
        completions += gone if table == "completions" else 0
    connection.execute(f"DELETE FROM groups WHERE {groups}")
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {link.table} WHERE {link.column} = prompts.id)"
        for link in tables.links_to("prompts")
    )
    prompts = ", ".join(str(prompt) for prompt in {row[1] for row in rows})
    connection.execute(f"DELETE FROM prompts WHERE id IN ({prompts}) AND {unused}")
    return completions


def _delete_series(connection: sqlite3.Connection, tables: RunTables, run_id: int) -> bool:
    row = connection.execute("SELECT id FROM series WHERE run_id = ? LIMIT 1", (run_id,)).fetchone()
    if row is None:
        return False
    for table in tables.below("series"):
        connection.execute(f"DELETE FROM {table} WHERE {tables.condition(table, 'series', f'id = {row[0]}')}")
    connection.execute("DELETE FROM series WHERE id = ?", row)
    return True
