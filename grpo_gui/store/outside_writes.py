"""Writes runs made elsewhere. Writing the same thing twice changes nothing, so that every reader may begin anew."""

import json
import math
import sqlite3
import time
from collections.abc import Iterator

import numpy as np

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.store.encoding import decode_text, encode_text
from grpo_gui.store.group_inserts import GroupInserter, sample_std
from grpo_gui.store.inserts import advantage_counts
from grpo_gui.store.records_outside import (
    OutsideBatch,
    OutsideMetric,
    OutsideRun,
    OutsideStart,
    OutsideStep,
    SampleUpdate,
    SourceRecord,
)
from grpo_gui.store.supersede import supersede_after

_PLACE = """SELECT c.id, g.id FROM groups g JOIN completions c ON c.group_id = g.id
WHERE g.run_id = ? AND g.superseded = 0 AND g.step = ? AND g.position = ? AND c.position = ?"""
_STEP_SUMS = """SELECT c.advantage, c.tokens FROM groups g JOIN completions c ON c.group_id = g.id
WHERE g.run_id = ? AND g.superseded = 0 AND g.step = ?"""
_KNOWN = """SELECT c.position, c.text, c.advantage, length(t.logps) FROM groups g
JOIN completions c ON c.group_id = g.id JOIN completion_tokens t ON t.completion_id = c.id
WHERE g.run_id = ? AND g.superseded = 0 AND g.step = ? AND g.position = ?"""
_SAME = 1e-5  # relative: TensorBoard keeps float32


class OutsideInserter:
    """Writes batches; remembers the ids of series, prompts and tokens. Call `forget` after a rollback."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._series: dict[tuple[int, str], int] = {}
        self._groups = GroupInserter(connection)

    def forget(self) -> None:
        """Drop what is remembered of the database."""
        self._series.clear()
        self._groups.forget()

    def apply(self, run_id: int, batch: OutsideBatch) -> None:
        """Write a batch inside the caller's transaction."""
        for start in batch.starts:
            self._start(run_id, start)
        for step in batch.steps:
            self._add_step(run_id, step)
        self._update(run_id, batch.updates)
        for source in batch.sources:
            save_source(self._connection, run_id, source)

    def _start(self, run_id: int, start: OutsideStart) -> None:
        """Put aside what came after the step that the other program went on from, the first time it says so."""
        source = SourceRecord(f"session {start.session}")
        known = self._connection.execute(
            "SELECT 1 FROM outside_sources WHERE run_id = ? AND name = ?", (run_id, source.name)
        ).fetchone()
        if known is not None:
            return
        save_source(self._connection, run_id, source)
        supersede_after(self._connection, run_id, start.step)
        self._series.clear()
        self._connection.execute(
            "INSERT INTO run_starts (run_id, step, time_s) VALUES (?, ?, ?)", (run_id, start.step, time.time())
        )
        self._connection.execute(
            "UPDATE runs SET device = ?, versions = ? WHERE id = ?",
            (encode_text(start.device), encode_text(json.dumps(start.versions, ensure_ascii=False)), run_id),
        )

    def _add_step(self, run_id: int, step: OutsideStep) -> None:
        newest = int(self._connection.execute("SELECT steps_done FROM runs WHERE id = ?", (run_id,)).fetchone()[0])
        if step.may_restart and step.step <= newest and self._contradicts(run_id, step):
            supersede_after(self._connection, run_id, step.step - 1)
            self._series.clear()
            newest = step.step - 1
        groups = self._new_groups(run_id, step) if step.step <= newest else step.groups
        if groups or not step.is_evaluation:
            self._add_step_row(run_id, step, groups)
        if groups:
            self._groups.insert(run_id, step.step, groups)
        self._add_points(run_id, step)

    def _contradicts(self, run_id: int, step: OutsideStep) -> bool:
        """True when a stored value of the step differs from the one that came now."""
        for metric in step.metrics:
            row = self._connection.execute(
                "SELECT value FROM points WHERE series_id = ? AND step = ?",
                (self._series_id(run_id, metric), step.step),
            ).fetchone()
            if row is not None and not _is_same(row[0], metric.value):
                return True
        return False

    def _new_groups(self, run_id: int, step: OutsideStep) -> tuple[GroupSample, ...]:
        if not step.groups:
            return ()
        rows = self._connection.execute(
            "SELECT position FROM groups WHERE run_id = ? AND superseded = 0 AND step = ?", (run_id, step.step)
        )
        known = {row[0] for row in rows}
        for group in step.groups:
            if group.index in known:
                self._update(run_id, tuple(self._better_known(run_id, step.step, group)))
        return tuple(group for group in step.groups if group.index not in known)

    def _better_known(self, run_id: int, step: int, group: GroupSample) -> Iterator[SampleUpdate]:
        """The samples of a stored group of which more is known now: it is read again after a restart."""
        rows = self._connection.execute(_KNOWN, (run_id, step, group.index)).fetchall()
        stored = {position: (decode_text(text), advantage, logps) for position, text, advantage, logps in rows}
        for sample in group.completions:
            text, advantage, logps = stored.get(sample.index, ("", 0.0, 1))
            learned = (advantage is None and not math.isnan(sample.advantage)) or (not logps and sample.logps)
            if learned and text == sample.text:
                yield SampleUpdate(step, group.index, sample)

    def _add_step_row(self, run_id: int, step: OutsideStep, groups: tuple[GroupSample, ...]) -> None:
        samples = [sample for group in groups for sample in group.completions]
        place = (run_id, step.step)
        known = self._connection.execute(
            "SELECT advantage_counts, time_s FROM steps WHERE run_id = ? AND superseded = 0 AND step = ?", place
        ).fetchone()
        if known is None:
            self._insert_step_row(run_id, step)
        if known is not None and known[1] is None and step.time_s is not None:
            self._connection.execute(
                "UPDATE steps SET time_s = ? WHERE run_id = ? AND superseded = 0 AND step = ?", (step.time_s, *place)
            )
        if samples:
            tokens = sum(len(sample.token_ids) for sample in samples)
            self._connection.execute(
                "UPDATE steps SET total_completions = total_completions + ?, total_tokens = total_tokens + ? "
                "WHERE run_id = ? AND superseded = 0 AND step >= ?",
                (len(samples), tokens, *place),
            )
            self._count_advantages(place, samples)
        if known is None or samples:
            self._connection.execute(
                "UPDATE runs SET steps_done = max(steps_done, ?), completions = completions + ? WHERE id = ?",
                (step.step, len(samples), run_id),
            )

    def _insert_step_row(self, run_id: int, step: OutsideStep) -> None:
        totals = self._connection.execute(
            "SELECT total_completions, total_tokens FROM steps "
            "WHERE run_id = ? AND superseded = 0 AND step < ? ORDER BY step DESC LIMIT 1",
            (run_id, step.step),
        ).fetchone() or (0, 0)
        self._connection.execute(
            "INSERT INTO steps (run_id, step, optimizer_step, time_s, total_completions, total_tokens, "
            "advantage_counts) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (run_id, step.step, step.step, step.time_s, *totals, advantage_counts([])),
        )

    def _count_advantages(self, place: tuple[int, int], samples: list[CompletionSample]) -> None:
        where = "WHERE run_id = ? AND superseded = 0 AND step = ?"
        before = self._connection.execute(f"SELECT advantage_counts FROM steps {where}", place).fetchone()[0]
        added = advantage_counts([sample.advantage for sample in samples])
        counts = np.frombuffer(before, dtype="<u4") + np.frombuffer(added, dtype="<u4")
        self._connection.execute(f"UPDATE steps SET advantage_counts = ? {where}", (counts.tobytes(), *place))

    def _update(self, run_id: int, updates: tuple[SampleUpdate, ...]) -> None:
        groups: dict[int, int] = {}  # id to step
        for update in updates:
            row = self._connection.execute(_PLACE, (run_id, update.step, update.group, update.sample.index)).fetchone()
            if row is not None:
                self._groups.replace(run_id, row[0], update.sample)
                groups[row[1]] = update.step
        for group_id in groups:
            self._summarise_group(group_id)
        for step in set(groups.values()):
            rows = self._connection.execute(_STEP_SUMS, (run_id, step)).fetchall()
            counts = advantage_counts([advantage for advantage, _ in rows if advantage is not None])
            self._add_tokens(run_id, step, sum(tokens for _, tokens in rows))
            self._connection.execute(
                "UPDATE steps SET advantage_counts = ? WHERE run_id = ? AND superseded = 0 AND step = ?",
                (counts, run_id, step),
            )

    def _add_tokens(self, run_id: int, step: int, tokens: int) -> None:
        """Let a step count `tokens`; what was counted for it before is replaced."""
        before = self._connection.execute(
            "SELECT coalesce((SELECT total_tokens FROM steps WHERE run_id = :run AND superseded = 0 AND step = :step), "
            "0) - coalesce((SELECT total_tokens FROM steps WHERE run_id = :run AND superseded = 0 AND step < :step "
            "ORDER BY step DESC LIMIT 1), 0)",
            {"run": run_id, "step": step},
        ).fetchone()[0]
        self._connection.execute(
            "UPDATE steps SET total_tokens = total_tokens + ? WHERE run_id = ? AND superseded = 0 AND step >= ?",
            (tokens - before, run_id, step),
        )

    def _summarise_group(self, group_id: int) -> None:
        rows = self._connection.execute(
            "SELECT reward, advantage FROM completions WHERE group_id = ?", (group_id,)
        ).fetchall()
        has_signal = any(advantage is not None and advantage != 0 for _, advantage in rows)
        self._connection.execute(
            "UPDATE groups SET reward_std = ?, has_signal = ? WHERE id = ?",
            (sample_std(reward for reward, _ in rows), has_signal, group_id),
        )

    def _add_points(self, run_id: int, step: OutsideStep) -> None:
        self._connection.executemany(
            "INSERT INTO points (series_id, step, value) VALUES (?, ?, ?) "
            "ON CONFLICT (series_id, step) DO UPDATE SET value = excluded.value",
            [(self._series_id(run_id, metric), step.step, metric.value) for metric in step.metrics],
        )

    def _series_id(self, run_id: int, metric: OutsideMetric) -> int:
        known = self._series.get((run_id, metric.name))
        if known is not None:
            return known
        key = (run_id, encode_text(metric.name), encode_text(metric.definition_id))
        self._connection.execute(
            "INSERT INTO series (run_id, name, definition_id, raw_name) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (*key, encode_text(metric.raw_name)),
        )
        found = self._connection.execute(
            "SELECT id FROM series WHERE run_id = ? AND name = ? AND definition_id = ? AND superseded = 0", key
        )
        self._series[run_id, metric.name] = series_id = int(found.fetchone()[0])
        return series_id


def _is_same(stored: float | None, value: float) -> bool:
    if stored is None or math.isnan(value):
        return stored is None and math.isnan(value)
    return math.isclose(stored, value, rel_tol=_SAME, abs_tol=1e-9)


def save_source(connection: sqlite3.Connection, run_id: int, source: SourceRecord) -> None:
    """Note how far a file was read."""
    connection.execute(
        "INSERT INTO outside_sources (run_id, name, identity, offset, state, problem) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (run_id, name) DO UPDATE SET identity = excluded.identity, offset = excluded.offset, "
        "state = excluded.state, problem = excluded.problem",
        (
            run_id,
            encode_text(source.name),
            source.identity,
            source.offset,
            encode_text(source.state),
            encode_text(source.problem),
        ),
    )


def save_outside_run(connection: sqlite3.Connection, run: OutsideRun) -> None:
    """Note where a run came from, or what is known of it now."""
    connection.execute(
        "INSERT INTO outside_runs (run_id, place, format, digest, summary) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (run_id) DO UPDATE SET place = excluded.place, format = excluded.format, "
        "digest = excluded.digest, summary = excluded.summary",
        (run.run_id, encode_text(run.place), run.format, run.digest, encode_text(run.summary)),
    )


def set_times(connection: sqlite3.Connection, run_id: int, created_s: float, ended_s: float | None) -> None:
    """Give a run the times at which it really began and ended."""
    connection.execute("UPDATE runs SET created_s = ?, ended_s = ? WHERE id = ?", (created_s, ended_s, run_id))
