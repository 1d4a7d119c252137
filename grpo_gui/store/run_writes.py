"""Statements of the writer that are not events: runs, notes, commands, runs whose process died."""

import sqlite3
import time

from grpo_gui.commands import Command
from grpo_gui.errors import StoreError
from grpo_gui.events import RunStatus
from grpo_gui.store.command_codec import command_from_json, command_to_json
from grpo_gui.store.encoding import encode_text
from grpo_gui.store.liveness import interrupted_message, is_alive, own_process
from grpo_gui.store.records import NewRun


def create_run(connection: sqlite3.Connection, run: NewRun, program: str) -> int:
    """Add a run that is warming up in this process; return its id."""
    pid, process_started_s = own_process()
    cursor = connection.execute(
        "INSERT INTO runs (name, task, config, seed, device, origin, status, program, created_s, parent_run_id, "
        "parent_step, steps_done, pid, process_started_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            encode_text(run.name),
            encode_text(run.task),
            encode_text(run.config),
            run.seed,
            encode_text(run.device),
            run.origin,
            RunStatus.WARMING_UP.value,
            program,
            time.time(),
            run.parent_run_id,
            run.parent_step,
            run.parent_step or 0,  # a branch begins where it leaves its parent
            pid,
            process_started_s,
        ),
    )
    return int(cursor.lastrowid or 0)


def rename_run(connection: sqlite3.Connection, run_id: int, name: str) -> None:
    """Give a run another name."""
    cursor = connection.execute("UPDATE runs SET name = ? WHERE id = ?", (encode_text(name), run_id))
    if not cursor.rowcount:
        raise StoreError(f"Run {run_id} is not in the database; choose another run.")


def add_note(connection: sqlite3.Connection, run_id: int, step: int, text: str) -> int:
    """Add a note; return its id."""
    cursor = connection.execute(
        "INSERT INTO notes (run_id, step, text, created_s) VALUES (?, ?, ?, ?)",
        (run_id, step, encode_text(text), time.time()),
    )
    return int(cursor.lastrowid or 0)


def post_command(connection: sqlite3.Connection, run_id: int, command: Command) -> None:
    """Leave a command for the process that trains the run."""
    connection.execute(
        "INSERT INTO commands (run_id, command, posted_s) VALUES (?, ?, ?)",
        (run_id, command_to_json(command), time.time()),
    )


def has_commands(connection: sqlite3.Connection, run_id: int) -> bool:
    """True when a command waits for the run."""
    row = connection.execute("SELECT 1 FROM commands WHERE run_id = ? AND taken_s IS NULL LIMIT 1", (run_id,))
    return row.fetchone() is not None


def take_commands(connection: sqlite3.Connection, run_id: int) -> list[Command]:
    """The commands that wait for the run, oldest first; they are marked as taken."""
    rows = connection.execute(
        "SELECT command FROM commands WHERE run_id = ? AND taken_s IS NULL ORDER BY id", (run_id,)
    ).fetchall()
    connection.execute("UPDATE commands SET taken_s = ? WHERE run_id = ? AND taken_s IS NULL", (time.time(), run_id))
    return [command_from_json(row[0]) for row in rows]


def mark_dead_runs(connection: sqlite3.Connection) -> list[int]:
    """Mark active runs as interrupted whose process is gone; return their ids."""
    active = [status.value for status in RunStatus if status.is_active]
    rows = connection.execute(
        f"SELECT id, pid, process_started_s, steps_done FROM runs WHERE status IN ({', '.join('?' * len(active))})",
        active,
    ).fetchall()
    dead = [(run_id, steps) for run_id, pid, started_s, steps in rows if not is_alive(pid, started_s)]
    for run_id, steps in dead:
        connection.execute(
            "UPDATE runs SET status = ?, message = ?, ended_s = "
            "coalesce((SELECT max(time_s) FROM steps WHERE run_id = ?), created_s) WHERE id = ?",
            (RunStatus.INTERRUPTED.value, interrupted_message(steps), run_id, run_id),
        )
    return [run_id for run_id, _ in dead]
