"""Reads whole groups with everything that was stored of them."""

import json

from grpo_gui.events import CompletionSample
from grpo_gui.store.encoding import decode_ids, decode_number, decode_optional_text, decode_text, number_or_nan
from grpo_gui.store.reading import ReadConnection, Row, parts, placeholders
from grpo_gui.store.records import GroupRecord, GroupRef

_GROUP = """SELECT g.id, g.step, g.position, p.task, p.prompt, p.answer, p.token_ids, p.tokens
FROM groups g JOIN prompts p ON p.id = g.prompt_id WHERE g.run_id = ? AND g.superseded = ? AND g.step = ?"""
_COMPLETION = """SELECT c.id, c.position, c.text, c.tokens, c.truncated, c.correct, c.reward, c.advantage, c.ratio_min,
c.ratio_max, c.clip_fraction_low, c.clip_fraction_high, c.kl_mean, c.kl_max, c.nan_columns,
t.token_ids, t.tokens, t.old_logps, t.logps, t.ref_logps, t.entropy, t.clipped
FROM completions c JOIN completion_tokens t ON t.completion_id = c.id WHERE c.group_id = ? ORDER BY c.position"""
_REWARDS = """SELECT r.completion_id, r.source, r.value, r.is_nan
FROM completions c JOIN rewards r ON r.completion_id = c.id WHERE c.group_id = ? ORDER BY c.id, r.position"""

Rewards = tuple[tuple[str, float | None], ...]


def group(connection: ReadConnection, ref: GroupRef) -> GroupRecord | None:
    """One group, None when it is not there."""
    row = connection.row(f"{_GROUP} AND g.position = ?", (ref.run_id, ref.superseded, ref.step, ref.index))
    return None if row is None else _group_record(connection, ref, row)


def groups_of_step(connection: ReadConnection, run_id: int, step: int) -> tuple[GroupRecord, ...]:
    """All groups of a step, in order of the prompts."""
    rows = connection.rows(f"{_GROUP} ORDER BY g.position", (run_id, 0, step))
    return tuple(_group_record(connection, GroupRef(run_id, step, row[2]), row) for row in rows)


def _group_record(connection: ReadConnection, ref: GroupRef, row: Row) -> GroupRecord:
    group_id, _, _, task, prompt, answer, token_ids, tokens = row
    completions = connection.rows(_COMPLETION, (group_id,))
    rewards: dict[int, list[tuple[str, float | None]]] = {}
    for completion_id, source, value, is_nan in connection.rows(_REWARDS, (group_id,)):
        entry = (decode_text(source), number_or_nan(value) if is_nan else value)
        rewards.setdefault(completion_id, []).append(entry)
    ids = [decode_ids(completion[15], completion[3]) for completion in completions]
    vocabulary = _vocabulary(connection, ref.run_id, {token_id for sequence in ids for token_id in sequence})
    return GroupRecord(
        id=group_id,
        ref=ref,
        task=decode_text(task),
        prompt=decode_text(prompt),
        answer=decode_optional_text(answer),
        prompt_token_ids=decode_ids(token_ids, tokens),
        completion_ids=tuple(completion[0] for completion in completions),
        completions=tuple(
            _sample(completion, sequence, tuple(rewards.get(completion[0], ())), vocabulary)
            for completion, sequence in zip(completions, ids, strict=True)
        ),
    )


def _sample(row: Row, token_ids: tuple[int, ...], rewards: Rewards, vocabulary: dict[int, str]) -> CompletionSample:
    nan = row[14]
    stored_tokens = row[16]
    if stored_tokens is None:
        tokens = tuple(vocabulary[token_id] for token_id in token_ids)
    else:
        tokens = tuple(json.loads(decode_text(stored_tokens)))
    return CompletionSample(
        index=row[1],
        text=decode_text(row[2]),
        token_ids=token_ids,
        tokens=tokens,
        truncated=bool(row[4]),
        correct=None if row[5] is None else bool(row[5]),
        reward=decode_number(row[6], "reward", nan),
        rewards=rewards,
        advantage=number_or_nan(row[7]),
        old_logps=row[17],
        logps=row[18],
        ref_logps=row[19],
        entropy=row[20],
        clipped=row[21],
        ratio_min=number_or_nan(row[8]),
        ratio_max=number_or_nan(row[9]),
        clip_fraction_low=number_or_nan(row[10]),
        clip_fraction_high=number_or_nan(row[11]),
        kl_mean=decode_number(row[12], "kl_mean", nan),
        kl_max=decode_number(row[13], "kl_max", nan),
    )


def _vocabulary(connection: ReadConnection, run_id: int, token_ids: set[int]) -> dict[int, str]:
    """The texts of tokens."""
    texts: dict[int, str] = {}
    for part in parts(sorted(token_ids)):
        rows = connection.rows(
            f"SELECT token_id, text FROM vocabulary WHERE run_id = ? AND token_id IN ({placeholders(part)})",
            (run_id, *part),
        )
        texts.update((token_id, decode_text(text)) for token_id, text in rows)
    return texts
