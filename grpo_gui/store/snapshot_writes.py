"""Writes snapshots, the starts of runs, and blind ratings of pairs. Runs in the writer's thread and transaction."""

import json
import math
import sqlite3
import time

from grpo_gui.errors import StoreError
from grpo_gui.events import RunStarted, SnapshotRemoved, SnapshotSaved
from grpo_gui.store.encoding import encode_text
from grpo_gui.store.records_snapshots import PairRating


def add_snapshot(connection: sqlite3.Connection, event: SnapshotSaved) -> None:
    """Add a snapshot that was just made."""
    metrics = {name: value if math.isfinite(value) else None for name, value in event.metrics}
    connection.execute(
        "INSERT INTO snapshots (run_id, step, path, reason, created_s, has_training_state, size_bytes, sha256, "
        "metrics) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event.run_id,
            event.step,
            encode_text(event.path),
            event.reason,
            event.time_s,
            event.has_training_state,
            event.size_bytes,
            event.sha256,
            encode_text(json.dumps(metrics, ensure_ascii=False)),
        ),
    )


def mark_removed(connection: sqlite3.Connection, event: SnapshotRemoved) -> None:
    """Note that the keep-rule removed a snapshot's folder."""
    connection.execute(
        "UPDATE snapshots SET removed_s = ? WHERE run_id = ? AND path = ? AND removed_s IS NULL",
        (time.time(), event.run_id, encode_text(event.path)),
    )


def remove_snapshot(connection: sqlite3.Connection, snapshot_id: int) -> None:
    """Note that a person removed a snapshot's folder."""
    connection.execute("UPDATE snapshots SET removed_s = ? WHERE id = ?", (time.time(), snapshot_id))


def add_start(connection: sqlite3.Connection, event: RunStarted) -> None:
    """Note that a trainer took up the run."""
    connection.execute(
        "INSERT INTO run_starts (run_id, step, time_s) VALUES (?, ?, ?)", (event.run_id, event.step, time.time())
    )


def replace_config(connection: sqlite3.Connection, run_id: int, config: str) -> None:
    """Give a run another config, one with more steps."""
    cursor = connection.execute("UPDATE runs SET config = ? WHERE id = ?", (encode_text(config), run_id))
    if not cursor.rowcount:
        raise StoreError(f"Run {run_id} is not in the database; choose another run.")


def rate_pair(connection: sqlite3.Connection, rating: PairRating) -> int:
    """Add a rating; return its id."""
    cursor = connection.execute(
        "INSERT INTO pair_ratings (run_id, first_snapshot_id, second_snapshot_id, prompt, seed, first_text, "
        "second_text, first_was_left, choice, rated_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            rating.pair.run_id,
            rating.pair.first_snapshot_id,
            rating.pair.second_snapshot_id,
            encode_text(rating.prompt),
            rating.seed,
            encode_text(rating.first_text),
            encode_text(rating.second_text),
            rating.first_was_left,
            rating.choice,
            time.time(),
        ),
    )
    return int(cursor.lastrowid or 0)


def undo_rating(connection: sqlite3.Connection, rating_id: int) -> None:
    """Take back a rating; it stays in the table with the time of taking back."""
    connection.execute("UPDATE pair_ratings SET undone_s = ? WHERE id = ?", (time.time(), rating_id))
