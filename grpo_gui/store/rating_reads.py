"""Reads the log of ratings, what became of them, and the groups that could be rated."""

import json
from collections.abc import Mapping

from grpo_gui.events import GroupRef
from grpo_gui.rating_events import PairResult, RatableGroup, RatingEvent, StoredRating
from grpo_gui.store.encoding import SqlValue, decode_text
from grpo_gui.store.reading import ReadConnection, Row

_WHERE = "g.superseded = 0 AND r.id > :after AND (:run IS NULL OR g.run_id = :run)"
_RATINGS = f"""SELECT r.id, g.run_id, g.step, g.position, r.rater, r.mode, r.shown_s, r.first_key_s, r.submitted_s,
r.note, r.reason, r.is_repeat, r.is_audit, r.undoes,
EXISTS (SELECT 1 FROM ratings u WHERE u.undoes = r.id),
(SELECT min(step) FROM rating_uses u WHERE u.rating_id = r.id AND u.outcome = 'used' AND u.superseded = 0),
(SELECT min(step) FROM rating_uses u WHERE u.rating_id = r.id AND u.outcome = 'expired' AND u.superseded = 0)
FROM ratings r JOIN groups g ON g.id = r.group_id WHERE {_WHERE} ORDER BY r.id"""
_VALUES = f"""SELECT r.id, v.position, v.slot, v.value, v.tag FROM ratings r JOIN groups g ON g.id = r.group_id
JOIN rating_values v ON v.rating_id = r.id WHERE {_WHERE} ORDER BY r.id, v.position"""
_PAIRS = f"""SELECT r.id, p.first, p.second, p.result FROM ratings r JOIN groups g ON g.id = r.group_id
JOIN rating_pairs p ON p.rating_id = r.id WHERE {_WHERE} ORDER BY r.id, p.place"""
_GROUPS = """SELECT g.id, g.step, g.position, p.task, p.prompt FROM groups g JOIN prompts p ON p.id = g.prompt_id
WHERE g.run_id = :run AND g.superseded = 0 AND g.step > :after ORDER BY g.step DESC, g.position"""
_COMPLETIONS = """SELECT c.group_id, c.id, c.text FROM completions c JOIN groups g ON g.id = c.group_id
WHERE g.run_id = :run AND g.superseded = 0 AND g.step > :after ORDER BY c.group_id, c.position"""
_REWARDS = """SELECT r.completion_id, r.source, r.value FROM groups g JOIN completions c ON c.group_id = g.id
JOIN rewards r ON r.completion_id = c.id
WHERE g.run_id = :run AND g.superseded = 0 AND g.step > :after AND r.source != 'human' AND r.value IS NOT NULL"""

Values = Mapping[str, SqlValue]


def group_ratings(connection: ReadConnection, run_id: int | None, after_id: int) -> tuple[StoredRating, ...]:
    """The entries of the log after an id, oldest first; those of groups that were replaced are left out."""
    values: Values = {"run": run_id, "after": after_id}
    rows = connection.rows(_RATINGS, values)
    if not rows:
        return ()
    by_completion: dict[int, list[Row]] = {}
    for rating_id, *rest in connection.rows(_VALUES, values):
        by_completion.setdefault(rating_id, []).append(tuple(rest))
    pairs: dict[int, list[PairResult]] = {}
    for rating_id, first, second, result in connection.rows(_PAIRS, values):
        pairs.setdefault(rating_id, []).append((first, second, result))
    return tuple(_stored(row, by_completion.get(row[0], []), tuple(pairs.get(row[0], ()))) for row in rows)


def _stored(row: Row, completions: list[Row], pairs: tuple[PairResult, ...]) -> StoredRating:
    event = RatingEvent(
        group=GroupRef(row[1], row[2], row[3]),
        rater=decode_text(row[4]),
        mode=row[5],
        values=tuple(value for _, _, value, _ in completions),
        positions=tuple(slot for _, slot, _, _ in completions),
        shown_s=row[6],
        first_key_s=row[7],
        submitted_s=row[8],
        pairs=pairs,
        tags=tuple((position, decode_text(tag)) for position, _, _, tag in completions if tag is not None),
        note=decode_text(row[9]),
        reason=decode_text(row[10]),
        is_repeat=bool(row[11]),
        is_audit=bool(row[12]),
        undoes=row[13],
    )
    return StoredRating(row[0], event, bool(row[14]), used_step=row[15], expired_step=row[16])


def newest_rating(connection: ReadConnection) -> int:
    """The id of the newest entry of the log, 0 without one."""
    row = connection.row("SELECT coalesce(max(id), 0) FROM ratings")
    return int(row[0]) if row else 0


def rating_mode(connection: ReadConnection, run_id: int) -> str | None:
    """How the run uses ratings, if that was ever changed; else its config says it."""
    row = connection.row(
        "SELECT mode FROM rating_modes WHERE run_id = ? AND superseded = 0 ORDER BY id DESC LIMIT 1", (run_id,)
    )
    return None if row is None else str(row[0])


def ratable_groups(connection: ReadConnection, run_id: int, after_step: int) -> tuple[RatableGroup, ...]:
    """The groups of a run after a step, newest step first."""
    values: Values = {"run": run_id, "after": after_step}
    program = _program_rewards(connection, run_id, values)
    texts: dict[int, list[str]] = {}
    rewards: dict[int, list[float | None]] = {}
    for group_id, completion_id, text in connection.rows(_COMPLETIONS, values):
        texts.setdefault(group_id, []).append(decode_text(text))
        rewards.setdefault(group_id, []).append(program.get(completion_id))
    return tuple(
        RatableGroup(
            ref=GroupRef(run_id, step, position),
            task=decode_text(task),
            prompt=decode_text(prompt),
            texts=tuple(texts.get(group_id, ())),
            program=tuple(rewards.get(group_id, ())),
        )
        for group_id, step, position, task, prompt in connection.rows(_GROUPS, values)
    )


def _program_rewards(connection: ReadConnection, run_id: int, values: Values) -> dict[int, float]:
    """By completion: the weighted sum of what the sources other than people gave."""
    row = connection.row("SELECT config FROM runs WHERE id = ?", (run_id,))
    weights = _weights(decode_text(row[0])) if row else {}
    totals: dict[int, float] = {}
    for completion_id, source, value in connection.rows(_REWARDS, values):
        totals[completion_id] = totals.get(completion_id, 0.0) + weights.get(decode_text(source), 1.0) * value
    return totals


def _weights(config: str) -> dict[str, float]:
    """The weights of the reward sources; empty when the run is not ours."""
    try:
        fields = json.loads(config)
        return {spec["name"]: float(spec.get("weight", 1.0)) for spec in fields["rewards"]}
    except (ValueError, KeyError, TypeError):
        return {}
