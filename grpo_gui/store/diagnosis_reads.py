"""Reads findings, and whole runs step by step in the form that a diagnosis is made from."""

from collections import defaultdict
from collections.abc import Iterator

from grpo_gui.store.encoding import decode_ids, decode_number, decode_text, number_or_nan
from grpo_gui.store.reading import ReadConnection, Row
from grpo_gui.store.records_diagnosis import FindingRecord, StoredCompletion, StoredGroup, StoredStep

STEPS_AT_ONCE = 50

_RANGE = "run_id = ? AND {0}.superseded = 0 AND {0}.step BETWEEN ? AND ?"
_POINTS = """SELECT p.step, s.name, p.value FROM series s JOIN points p ON p.series_id = s.id
WHERE s.run_id = ? AND s.superseded = 0 AND p.step BETWEEN ? AND ? ORDER BY p.step, s.id"""
_NEWEST = """SELECT max((SELECT max(step) FROM points WHERE series_id = s.id)) FROM series s
WHERE s.run_id = ? AND s.superseded = 0"""
_NEXT = """SELECT min(next) FROM (SELECT (SELECT min(step) FROM points WHERE series_id = s.id AND step >= ?) AS next
FROM series s WHERE s.run_id = ? AND s.superseded = 0)"""
_GROUPS = f"""SELECT g.id, g.step, g.position, p.prompt FROM groups g JOIN prompts p ON p.id = g.prompt_id
WHERE g.{_RANGE.format("g")} ORDER BY g.step, g.position"""
_COMPLETIONS = f"""SELECT c.group_id, c.id, c.text, c.tokens, c.truncated, c.correct, c.reward, c.advantage,
c.nan_columns, t.token_ids, t.old_logps, t.logps, t.ref_logps
FROM groups g JOIN completions c ON c.group_id = g.id JOIN completion_tokens t ON t.completion_id = c.id
WHERE g.{_RANGE.format("g")} ORDER BY c.group_id, c.position"""
_REWARDS = f"""SELECT r.completion_id, r.source, r.value, r.is_nan
FROM groups g JOIN completions c ON c.group_id = g.id JOIN rewards r ON r.completion_id = c.id
WHERE g.{_RANGE.format("g")} ORDER BY r.completion_id, r.position"""
_FINDINGS = """SELECT detector, title, severity, state, root, onset, noticed, headline, detail, action, document
FROM findings WHERE run_id = ? ORDER BY position"""

Rewards = dict[int, list[tuple[str, float | None]]]


def findings(connection: ReadConnection, run_id: int) -> tuple[FindingRecord, ...]:
    """The findings of a run as they were saved last: open ones first, the most severe first."""
    return tuple(
        FindingRecord(
            detector=row[0],
            title=row[1],
            severity=row[2],
            state=row[3],
            root=row[4],
            onset=row[5],
            noticed=row[6],
            headline=decode_text(row[7]),
            detail=decode_text(row[8]),
            action=decode_text(row[9]),
            document=decode_text(row[10]),
        )
        for row in connection.rows(_FINDINGS, (run_id,))
    )


def muted(connection: ReadConnection, run_id: int) -> frozenset[str]:
    """The detectors that are muted for a run."""
    rows = connection.rows("SELECT detector FROM muted_findings WHERE run_id = ?", (run_id,))
    return frozenset(row[0] for row in rows)


def diagnosis_steps(
    connection: ReadConnection, run_id: int, after_step: int | None, samples_after: int | None = None
) -> Iterator[StoredStep]:
    """Every step of a run after `after_step` that has metrics, by rising step, some dozens read at once.

    Steps up to `samples_after` come without their groups.
    """
    newest = connection.row(_NEWEST, (run_id,))
    last = -1 if newest is None or newest[0] is None else int(newest[0])
    first = 0 if after_step is None else after_step + 1
    while first <= last:
        found = connection.row(_NEXT, (first, run_id))
        if found is None or found[0] is None:
            return
        first = int(found[0])  # steps of other programs may lie far apart
        sampled = first if samples_after is None else max(first, samples_after + 1)
        yield from _some_steps(connection, run_id, first, sampled, first + STEPS_AT_ONCE - 1)
        first += STEPS_AT_ONCE


def _some_steps(connection: ReadConnection, run_id: int, first: int, sampled: int, last: int) -> Iterator[StoredStep]:
    metrics: dict[int, dict[str, float]] = defaultdict(dict)
    for step, name, value in connection.rows(_POINTS, (run_id, first, last)):
        metrics[step][decode_text(name)] = number_or_nan(value)
    place = run_id, sampled, last
    rewards: Rewards = defaultdict(list)
    for completion_id, source, value, is_nan in connection.rows(_REWARDS, place):
        rewards[completion_id].append((decode_text(source), number_or_nan(value) if is_nan else value))
    members: dict[int, list[StoredCompletion]] = defaultdict(list)
    for row in connection.rows(_COMPLETIONS, place):
        members[row[0]].append(_completion(row, rewards))
    groups: dict[int, list[StoredGroup]] = defaultdict(list)
    for group_id, step, position, prompt in connection.rows(_GROUPS, place):
        groups[step].append(StoredGroup(position, decode_text(prompt), tuple(members[group_id])))
    for step, values in metrics.items():
        yield StoredStep(step, values, tuple(groups.get(step, ())))


def _completion(row: Row, rewards: Rewards) -> StoredCompletion:
    nan = row[8]
    return StoredCompletion(
        text=decode_text(row[2]),
        token_ids=decode_ids(row[9], row[3]),
        truncated=bool(row[4]),
        correct=None if row[5] is None else bool(row[5]),
        reward=decode_number(row[6], "reward", nan),
        rewards=tuple(rewards.get(row[1], ())),
        advantage=number_or_nan(row[7]),
        old_logps=row[10],
        logps=row[11],
        ref_logps=row[12],
    )
