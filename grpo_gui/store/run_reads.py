"""Reads runs, and what belongs to a run besides samples: changes, notes, tasks."""

import json
from collections import defaultdict

from grpo_gui.events import RunStatus
from grpo_gui.store.encoding import decode_number, decode_optional_text, decode_text, number_or_nan
from grpo_gui.store.liveness import interrupted_message, is_alive
from grpo_gui.store.reading import ReadConnection, Row
from grpo_gui.store.records import ChangeRecord, NoteRecord, RunRecord

_RUN = """SELECT id, name, task, config, seed, device, origin, status, message, program, versions, parameters,
created_s, ended_s, steps_done, completions, parent_run_id, parent_step,
(SELECT path FROM training_states WHERE run_id = runs.id ORDER BY id DESC LIMIT 1),
pid, process_started_s, archived_s FROM runs WHERE binned_s IS NULL AND unfinished = 0"""
_TAGS = "SELECT run_id, tag FROM run_tags"
_FINAL_METRICS = """SELECT run_id, name,
(SELECT value FROM points WHERE series_id = series.id ORDER BY step DESC LIMIT 1) FROM series WHERE superseded = 0"""

FinalMetrics = tuple[tuple[str, float | None], ...]


def runs(connection: ReadConnection) -> tuple[RunRecord, ...]:
    """All runs, newest first."""
    metrics: dict[int, list[tuple[str, float | None]]] = defaultdict(list)
    for run_id, name, value in connection.rows(f"{_FINAL_METRICS} ORDER BY id"):
        metrics[run_id].append((decode_text(name), number_or_nan(value)))
    tags: dict[int, list[str]] = defaultdict(list)
    for run_id, tag in connection.rows(f"{_TAGS} ORDER BY run_id, position"):
        tags[run_id].append(decode_text(tag))
    rows = connection.rows(f"{_RUN} ORDER BY id DESC")
    return tuple(_run_record(row, tuple(metrics[row[0]]), tuple(tags[row[0]])) for row in rows)


_LARGEST_ID = (1 << 63) - 1  # that SQLite takes


def run(connection: ReadConnection, run_id: int) -> RunRecord | None:
    """One run, None when it is not there."""
    if run_id > _LARGEST_ID:
        return None
    row = connection.row(f"{_RUN} AND id = ?", (run_id,))
    if row is None:
        return None
    metrics = connection.rows(f"{_FINAL_METRICS} AND run_id = ? ORDER BY id", (run_id,))
    tags = connection.rows(f"{_TAGS} WHERE run_id = ? ORDER BY position", (run_id,))
    values = tuple((decode_text(name), number_or_nan(value)) for _, name, value in metrics)
    return _run_record(row, values, tuple(decode_text(tag) for _, tag in tags))


def _run_record(row: Row, final_metrics: FinalMetrics, tags: tuple[str, ...]) -> RunRecord:
    status, message = RunStatus(row[7]), decode_text(row[8])
    # The next writer that opens the database writes it down; until then readers see it for themselves.
    if status.is_active and not is_alive(row[19], row[20]):
        status, message = RunStatus.INTERRUPTED, interrupted_message(row[14])
    return RunRecord(
        id=row[0],
        name=decode_text(row[1]),
        task=decode_text(row[2]),
        config=decode_text(row[3]),
        seed=row[4],
        device=decode_text(row[5]),
        origin=row[6],
        status=status,
        message=message,
        program=row[9],
        versions=tuple((package, version) for package, version in json.loads(decode_text(row[10]))),
        parameters=row[11],
        created_s=row[12],
        ended_s=row[13],
        steps_done=row[14],
        completions=row[15],
        parent_run_id=row[16],
        parent_step=row[17],
        state_path=decode_optional_text(row[18]),
        final_metrics=final_metrics,
        tags=tags,
        archived=row[21] is not None,
    )


def changes(connection: ReadConnection, run_id: int) -> tuple[ChangeRecord, ...]:
    """The hyperparameters changed while the run was going, in order."""
    rows = connection.rows(
        "SELECT step, name, old, new, nan_columns FROM changes WHERE run_id = ? AND superseded = 0 ORDER BY step, id",
        (run_id,),
    )
    return tuple(
        ChangeRecord(step, decode_text(name), decode_number(old, "old", nan), decode_number(new, "new", nan))
        for step, name, old, new, nan in rows
    )


def notes(connection: ReadConnection, run_id: int) -> tuple[NoteRecord, ...]:
    """The user's notes, by step."""
    rows = connection.rows("SELECT id, step, text, created_s FROM notes WHERE run_id = ? ORDER BY step, id", (run_id,))
    return tuple(NoteRecord(note_id, step, decode_text(text), created_s) for note_id, step, text, created_s in rows)


def tasks(connection: ReadConnection, run_id: int) -> tuple[str, ...]:
    """The tasks that the run has sampled, by name."""
    rows = connection.rows("SELECT task FROM tasks WHERE run_id = ? ORDER BY task", (run_id,))
    return tuple(decode_text(row[0]) for row in rows)
