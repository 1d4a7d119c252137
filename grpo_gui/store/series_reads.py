"""Reads the curves of a run."""

import numpy as np

from grpo_gui.store.encoding import decode_text, encode_text
from grpo_gui.store.reading import ReadConnection
from grpo_gui.store.records import SeriesPoints, StepTotals


def series_names(connection: ReadConnection, run_id: int) -> tuple[str, ...]:
    """The metrics of a run, in the order in which they first came."""
    rows = connection.rows(
        "SELECT name FROM series WHERE run_id = ? AND superseded = 0 GROUP BY name ORDER BY min(id)", (run_id,)
    )
    return tuple(decode_text(row[0]) for row in rows)


def points(connection: ReadConnection, run_id: int, name: str, after_step: int | None) -> SeriesPoints:
    """The points of one metric after a step, by rising step; empty when the run has no such metric."""
    series = connection.rows(
        "SELECT id, definition_id FROM series WHERE run_id = ? AND name = ? AND superseded = 0 ORDER BY id",
        (run_id, encode_text(name)),
    )
    rows: list[tuple[int, float | None]] = []
    for series_id, _ in series:
        rows += connection.rows(
            "SELECT step, value FROM points WHERE series_id = ? AND step > ? ORDER BY step",
            (series_id, -1 if after_step is None else after_step),
        )
    if len(series) > 1:
        rows.sort(key=lambda row: row[0])
    steps, values = zip(*rows, strict=True) if rows else ((), ())
    return SeriesPoints(
        name=name,
        definition_id=decode_text(series[-1][1]) if series else "",
        steps=np.array(steps, dtype=np.int64),
        values=np.array(values, dtype=np.float64),  # None becomes NaN
    )


def totals(connection: ReadConnection, run_id: int, after_step: int | None) -> StepTotals:
    """The step table of a run after a step, by rising step."""
    rows = connection.rows(
        "SELECT step, optimizer_step, time_s, total_completions, total_tokens, advantage_counts FROM steps "
        "WHERE run_id = ? AND superseded = 0 AND step > ? ORDER BY step",
        (run_id, -1 if after_step is None else after_step),
    )
    steps, optimizer_steps, times_s, samples, tokens, counts = zip(*rows, strict=True) if rows else ((),) * 6
    return StepTotals(
        steps=np.array(steps, dtype=np.int64),
        optimizer_steps=np.array(optimizer_steps, dtype=np.int64),
        times_s=np.array(times_s, dtype=np.float64),
        samples=np.array(samples, dtype=np.int64),
        tokens=np.array(tokens, dtype=np.int64),
        advantage_counts=np.frombuffer(b"".join(counts), dtype="<u4").astype(np.int64).reshape(len(rows), 27),
    )


def newest_sampled_step(connection: ReadConnection, run_id: int) -> int | None:
    """The newest step with samples, None without one."""
    row = connection.row(
        "SELECT step FROM groups WHERE run_id = ? AND superseded = 0 ORDER BY step DESC LIMIT 1", (run_id,)
    )
    return None if row is None else row[0]


def newest_step(connection: ReadConnection, run_id: int) -> int | None:
    """The newest step that is stored, None before the first."""
    row = connection.row(
        "SELECT step FROM steps WHERE run_id = ? AND superseded = 0 ORDER BY step DESC LIMIT 1", (run_id,)
    )
    return None if row is None else row[0]
