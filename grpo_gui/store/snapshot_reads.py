"""Reads snapshots, seams, superseded curves and blind ratings of pairs."""

import json
import math

import numpy as np

from grpo_gui.store.encoding import decode_text, encode_text
from grpo_gui.store.reading import ReadConnection
from grpo_gui.store.records import SeriesPoints
from grpo_gui.store.records_snapshots import PairRating, PairRef, SeamRecord, SnapshotRecord

_COLUMNS = (
    "id, run_id, step, path, reason, created_s, has_training_state, size_bytes, sha256, metrics, superseded "
    "FROM snapshots WHERE removed_s IS NULL"
)


def snapshots(connection: ReadConnection, run_id: int) -> tuple[SnapshotRecord, ...]:
    """The snapshots of a run that were not removed, newest first; superseded ones come last."""
    rows = connection.rows(f"SELECT {_COLUMNS} AND run_id = ? ORDER BY superseded > 0, step DESC, id DESC", (run_id,))
    return tuple(
        SnapshotRecord(
            id=row[0],
            run_id=row[1],
            step=row[2],
            path=decode_text(row[3]),
            reason=row[4],
            created_s=row[5],
            has_training_state=bool(row[6]),
            size_bytes=row[7],
            sha256=row[8],
            metrics={
                name: math.nan if value is None else value for name, value in json.loads(decode_text(row[9])).items()
            },
            superseded=bool(row[10]),
        )
        for row in rows
    )


def newest_run_with_snapshots(connection: ReadConnection) -> int | None:
    """The run whose snapshot was made last, None without one."""
    row = connection.row(
        "SELECT run_id FROM snapshots WHERE removed_s IS NULL ORDER BY created_s DESC, id DESC LIMIT 1"
    )
    return None if row is None else int(row[0])


def seams(connection: ReadConnection, run_id: int) -> tuple[SeamRecord, ...]:
    """Where the run was taken up again after its first start, by step."""
    rows = connection.rows(
        "SELECT step, time_s FROM run_starts WHERE run_id = ? AND superseded = 0 "
        "AND step > (SELECT step FROM run_starts WHERE run_id = ? ORDER BY id LIMIT 1) ORDER BY step, id",
        (run_id, run_id),
    )
    return tuple(SeamRecord(step, time_s) for step, time_s in rows)


def superseded_points(connection: ReadConnection, run_id: int, name: str) -> tuple[SeriesPoints, ...]:
    """The replaced parts of a curve, one for each time it was replaced."""
    series = connection.rows(
        "SELECT id, definition_id FROM series WHERE run_id = ? AND name = ? AND superseded > 0 ORDER BY superseded, id",
        (run_id, encode_text(name)),
    )
    parts = []
    for series_id, definition_id in series:
        rows = connection.rows("SELECT step, value FROM points WHERE series_id = ? ORDER BY step", (series_id,))
        steps, values = zip(*rows, strict=True) if rows else ((), ())
        points = np.array(steps, dtype=np.int64), np.array(values, dtype=np.float64)
        parts.append(SeriesPoints(name, decode_text(definition_id), *points))
    return tuple(parts)


def pair_ratings(connection: ReadConnection, pair: PairRef) -> tuple[tuple[int, PairRating], ...]:
    """The ratings of a pair that were not taken back, with their ids, in the order in which they were given."""
    rows = connection.rows(
        "SELECT id, prompt, seed, first_text, second_text, first_was_left, choice FROM pair_ratings "
        "WHERE run_id = ? AND first_snapshot_id IS ? AND second_snapshot_id IS ? AND undone_s IS NULL ORDER BY id",
        (pair.run_id, pair.first_snapshot_id, pair.second_snapshot_id),
    )
    return tuple(
        (
            row[0],
            PairRating(
                pair,
                decode_text(row[1]),
                row[2],
                decode_text(row[3]),
                decode_text(row[4]),
                bool(row[5]),
                row[6],
            ),
        )
        for row in rows
    )
