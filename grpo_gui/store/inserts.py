"""Writes events into the tables. Runs in the writer's thread, inside its transaction."""

import json
import sqlite3
import time
from typing import assert_never

from grpo_gui.errors import StoreError
from grpo_gui.events import (
    EvalCompleted,
    Event,
    GroupsSampled,
    HyperparameterChanged,
    Metrics,
    RatingModeSet,
    RatingsSettled,
    RunFailed,
    RunStarted,
    RunStatus,
    SnapshotRemoved,
    SnapshotSaved,
    StateSaved,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store import rating_writes, snapshot_writes
from grpo_gui.store.encoding import encode_text, nan_columns
from grpo_gui.store.group_inserts import GroupInserter
from grpo_gui.store.liveness import own_process
from grpo_gui.store.supersede import supersede_after

ADVANTAGE_BINS = 27
ADVANTAGE_BOUND = 2.6


class EventInserter:
    """Writes events; remembers the ids of series, prompts and tokens that are there already.

    Call `forget` after a rollback: what it remembers may be gone.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._series: dict[tuple[int, str], int] = {}
        self._groups = GroupInserter(connection)

    def forget(self) -> None:
        """Drop what is remembered of the database."""
        self._series.clear()
        self._groups.forget()

    def apply(self, event: Event) -> None:
        """Write one event.

        Raises:
            StoreError: the run is not in the database.
        """
        match event:
            case StepCompleted():
                self._step_completed(event)
            case GroupsSampled():
                self._require_run(event.run_id)
                self._groups.add(event.run_id, event.step, event.groups)
            case RatingsSettled() | RatingModeSet():
                self._require_run(event.run_id)
                rating_writes.apply(self._connection, event)
            case EvalCompleted():
                self._require_run(event.run_id)
                self._add_points(event.run_id, event.step, event.metrics)
            case TrainerStatus():
                self._set_status(event.run_id, event.status, event.message)
            case RunStarted():
                self._run_started(event)
            case HyperparameterChanged():
                self._changed(event)
            case StateSaved():
                self._require_run(event.run_id)
                self._connection.execute(
                    "INSERT INTO training_states (run_id, step, path, saved_s) VALUES (?, ?, ?, ?)",
                    (event.run_id, event.step, encode_text(event.path), time.time()),
                )
            case SnapshotSaved():
                self._require_run(event.run_id)
                snapshot_writes.add_snapshot(self._connection, event)
                self._add_points(event.run_id, event.step, event.measures)
            case SnapshotRemoved():
                snapshot_writes.mark_removed(self._connection, event)
            case RunFailed():
                self._set_status(event.run_id, RunStatus.FAILED, event.message)
                self._connection.execute(
                    "UPDATE runs SET traceback = ? WHERE id = ?", (encode_text(event.traceback), event.run_id)
                )
            case _:
                assert_never(event)

    def _step_completed(self, event: StepCompleted) -> None:
        if event.step <= self._require_run(event.run_id):
            self._supersede(event.run_id, event.step - 1)
        self._groups.add(event.run_id, event.step, event.groups)
        self._add_points(event.run_id, event.step, event.metrics)
        completions = [completion for group in event.groups for completion in group.completions]
        self._add_step_row(event, len(completions), sum(len(c.token_ids) for c in completions))
        self._connection.execute(
            # A run that was taken for dead and goes on was not dead.
            "UPDATE runs SET steps_done = ?, completions = completions + ?, "
            "status = CASE status WHEN 'interrupted' THEN 'running' ELSE status END, "
            "ended_s = CASE status WHEN 'interrupted' THEN NULL ELSE ended_s END WHERE id = ?",
            (event.step, len(completions), event.run_id),
        )

    def _add_step_row(self, event: StepCompleted, completions: int, tokens: int) -> None:
        totals = self._connection.execute(
            "SELECT total_completions, total_tokens FROM steps "
            "WHERE run_id = ? AND superseded = 0 AND step < ? ORDER BY step DESC LIMIT 1",
            (event.run_id, event.step),
        ).fetchone() or (0, 0)
        self._connection.execute(
            "INSERT INTO steps (run_id, step, optimizer_step, time_s, total_completions, total_tokens, "
            "advantage_counts) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                event.run_id,
                event.step,
                event.optimizer_step,
                event.time_s,
                totals[0] + completions,
                totals[1] + tokens,
                advantage_counts([c.advantage for group in event.groups for c in group.completions]),
            ),
        )

    def _add_points(self, run_id: int, step: int, metrics: Metrics) -> None:
        self._connection.executemany(
            "INSERT INTO points (series_id, step, value) VALUES (?, ?, ?) "
            "ON CONFLICT (series_id, step) DO UPDATE SET value = excluded.value",
            [(self._series_id(run_id, name), step, value) for name, value in metrics],
        )

    def _series_id(self, run_id: int, name: str) -> int:
        known = self._series.get((run_id, name))
        if known is not None:
            return known
        config = self._connection.execute("SELECT config FROM runs WHERE id = ?", (run_id,)).fetchone()[0]
        definition_id = definition_of(name, _options(config)).definition_id
        key = (run_id, encode_text(name), encode_text(definition_id))
        self._connection.execute(
            "INSERT INTO series (run_id, name, definition_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key
        )
        found = self._connection.execute(
            "SELECT id FROM series WHERE run_id = ? AND name = ? AND definition_id = ? AND superseded = 0", key
        )
        series_id = int(found.fetchone()[0])
        self._series[run_id, name] = series_id
        return series_id

    def _set_status(self, run_id: int, status: RunStatus, message: str) -> None:
        self._require_run(run_id)
        pid, started_s = own_process()
        self._connection.execute(
            "UPDATE runs SET status = ?, message = ?, ended_s = ?, pid = ?, process_started_s = ? WHERE id = ?",
            (status.value, encode_text(message), None if status.is_active else time.time(), pid, started_s, run_id),
        )

    def _run_started(self, event: RunStarted) -> None:
        if event.step < self._require_run(event.run_id):
            self._supersede(event.run_id, event.step)
        snapshot_writes.add_start(self._connection, event)
        pid, started_s = own_process()
        versions = encode_text(json.dumps(event.versions, ensure_ascii=False))
        self._connection.execute(
            "UPDATE runs SET device = ?, parameters = ?, versions = ?, pid = ?, process_started_s = ? WHERE id = ?",
            (encode_text(event.device), event.parameters, versions, pid, started_s, event.run_id),
        )

    def _changed(self, event: HyperparameterChanged) -> None:
        self._require_run(event.run_id)
        nan = nan_columns(old=event.old, new=event.new)
        self._connection.execute(
            "INSERT INTO changes (run_id, step, name, old, new, nan_columns) VALUES (?, ?, ?, ?, ?, ?)",
            (event.run_id, event.step, encode_text(event.name), event.old, event.new, nan),
        )

    def _supersede(self, run_id: int, step: int) -> None:
        supersede_after(self._connection, run_id, step)
        self._series.clear()

    def _require_run(self, run_id: int) -> int:
        row = self._connection.execute("SELECT steps_done FROM runs WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise StoreError(f"Run {run_id} is not in the database, so its events cannot be stored.")
        return int(row[0])


def _options(config: str | bytes) -> dict[str, object]:
    """The fields of a run's config; none when it is not a JSON object (a run that is not ours)."""
    try:
        fields = json.loads(config)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def advantage_counts(advantages: list[float]) -> bytes:
    """Histogram with 27 bins over [-2.6, 2.6], outliers in the end bins, NaN left out; uint32 little-endian."""
    counts = [0] * ADVANTAGE_BINS
    scale = ADVANTAGE_BINS / (2 * ADVANTAGE_BOUND)
    for advantage in advantages:
        if advantage == advantage:  # not NaN
            inside = min(max(advantage, -ADVANTAGE_BOUND), ADVANTAGE_BOUND)
            counts[min(int((inside + ADVANTAGE_BOUND) * scale), ADVANTAGE_BINS - 1)] += 1
    return b"".join(count.to_bytes(4, "little") for count in counts)
