"""Writes the groups of a step: prompts once, completions, per-token values, rewards by source."""

import json
import math
import sqlite3
from collections.abc import Iterable, Sequence

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.store.awaited_groups import AwaitedGroup, awaited_groups
from grpo_gui.store.encoding import (
    SqlValue,
    decode_text,
    encode_ids,
    encode_optional_text,
    encode_text,
    nan_columns,
    prompt_digest,
)

_COMPLETION = """INSERT INTO completions (id, group_id, position, run_id, step, prompt_id, text, tokens, truncated,
correct, reward, advantage, ratio_min, ratio_max, clip_fraction_low, clip_fraction_high, kl_mean, kl_max, nan_columns)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_TOKENS = """INSERT INTO completion_tokens (completion_id, token_ids, tokens, old_logps, logps, ref_logps, entropy,
clipped) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_REWARD = "INSERT INTO rewards (completion_id, position, source, value, is_nan) VALUES (?, ?, ?, ?, ?)"
_NEW_COMPLETION = """UPDATE completions SET text = ?, tokens = ?, truncated = ?, correct = ?, reward = ?, advantage = ?,
ratio_min = ?, ratio_max = ?, clip_fraction_low = ?, clip_fraction_high = ?, kl_mean = ?, kl_max = ?, nan_columns = ?
WHERE id = ?"""
_NEW_TOKENS = """UPDATE completion_tokens SET token_ids = ?, tokens = ?, old_logps = ?, logps = ?, ref_logps = ?,
entropy = ?, clipped = ? WHERE completion_id = ?"""
_GROUP = """INSERT INTO groups (id, run_id, step, position, prompt_id, size, right_count, reward_std, has_signal)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""

Rows = list[tuple[SqlValue, ...]]


class GroupInserter:
    """Writes groups; remembers the prompts and tokens that are there already."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._prompts: dict[bytes, int] = {}
        self._vocabularies: dict[int, dict[int, str]] = {}
        self._tasks: set[tuple[int, str]] = set()

    def forget(self) -> None:
        """Drop what is remembered of the database."""
        self._prompts.clear()
        self._vocabularies.clear()
        self._tasks.clear()

    def add(self, run_id: int, step: int, groups: Sequence[GroupSample]) -> None:
        """Write the groups of a step. The transaction must be an immediate one: ids are counted on here.

        Groups that are there already, because their update waited for ratings, keep their rows and get new values.
        """
        awaited = awaited_groups(self._connection, run_id, step, groups)
        if awaited:
            for group in groups:
                self._complete(run_id, awaited[group.index], group)
        else:
            self.insert(run_id, step, groups)

    def insert(self, run_id: int, step: int, groups: Sequence[GroupSample]) -> None:
        """Write groups that are not there, beside those of the step that are."""
        group_id, completion_id = self._next_id("groups"), self._next_id("completions")
        group_rows: Rows = []
        completion_rows: Rows = []
        token_rows: Rows = []
        reward_rows: Rows = []
        for group in groups:
            self._add_task(run_id, group.task)
            prompt_id = self._prompt_id(group)
            group_rows.append((group_id, run_id, step, group.index, prompt_id, *_group_summary(group)))
            for sample in group.completions:
                place: tuple[SqlValue, ...] = (completion_id, group_id, sample.index, run_id, step, prompt_id)
                completion_rows.append((*place, *_completion_values(sample)))
                token_rows.append((completion_id, *self._token_values(run_id, sample)))
                reward_rows.extend(_reward_rows(completion_id, sample))
                completion_id += 1
            group_id += 1
        self._connection.executemany(_GROUP, group_rows)
        self._connection.executemany(_COMPLETION, completion_rows)
        self._connection.executemany(_TOKENS, token_rows)
        self._connection.executemany(_REWARD, reward_rows)

    def _complete(self, run_id: int, stored: AwaitedGroup, group: GroupSample) -> None:
        self._connection.execute(
            "UPDATE groups SET size = ?, right_count = ?, reward_std = ?, has_signal = ? WHERE id = ?",
            (*_group_summary(group), stored.group_id),
        )
        for completion_id, sample in zip(stored.completion_ids, group.completions, strict=True):
            self.replace(run_id, completion_id, sample)

    def replace(self, run_id: int, completion_id: int, sample: CompletionSample) -> None:
        """Write a completion anew that is in the database already, because more of it became known."""
        self._connection.execute(_NEW_COMPLETION, (*_completion_values(sample), completion_id))
        self._connection.execute(_NEW_TOKENS, (*self._token_values(run_id, sample), completion_id))
        self._connection.execute("DELETE FROM rewards WHERE completion_id = ?", (completion_id,))
        self._connection.executemany(_REWARD, _reward_rows(completion_id, sample))

    def _next_id(self, table: str) -> int:
        return int(self._connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])

    def _add_task(self, run_id: int, task: str) -> None:
        if (run_id, task) not in self._tasks:
            self._connection.execute(
                "INSERT INTO tasks (run_id, task) VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, encode_text(task))
            )
            self._tasks.add((run_id, task))

    def _prompt_id(self, group: GroupSample) -> int:
        token_ids = encode_ids(group.prompt_token_ids)
        digest = prompt_digest(group.task, group.prompt, group.answer, token_ids)
        known = self._prompts.get(digest)
        if known is not None:
            return known
        self._connection.execute(
            "INSERT INTO prompts (task, prompt, answer, token_ids, tokens, digest) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (digest) DO NOTHING",
            (
                encode_text(group.task),
                encode_text(group.prompt),
                encode_optional_text(group.answer),
                token_ids,
                len(group.prompt_token_ids),
                digest,
            ),
        )
        found = self._connection.execute("SELECT id FROM prompts WHERE digest = ?", (digest,))
        prompt_id = int(found.fetchone()[0])
        self._prompts[digest] = prompt_id
        return prompt_id

    def _token_values(self, run_id: int, sample: CompletionSample) -> tuple[SqlValue, ...]:
        return (
            encode_ids(sample.token_ids),
            self._token_texts(run_id, sample),
            sample.old_logps,
            sample.logps,
            sample.ref_logps,
            sample.entropy,
            sample.clipped,
        )

    def _token_texts(self, run_id: int, sample: CompletionSample) -> str | bytes | None:
        """None when the run's vocabulary (which learns new tokens here) tells the texts, else a JSON list."""
        vocabulary = self._vocabularies.setdefault(run_id, {})
        differs = len(sample.tokens) != len(sample.token_ids)
        for token_id, text in zip(sample.token_ids, sample.tokens, strict=False):
            known = vocabulary.get(token_id)
            if known is None:
                known = vocabulary[token_id] = self._learn_token(run_id, token_id, text)
            differs = differs or known != text
        return encode_text(json.dumps(sample.tokens, ensure_ascii=False)) if differs else None

    def _learn_token(self, run_id: int, token_id: int, text: str) -> str:
        """Add a token to the run's vocabulary; return the text it has there, which may be an earlier one."""
        self._connection.execute(
            "INSERT INTO vocabulary (run_id, token_id, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (run_id, token_id, encode_text(text)),
        )
        stored = self._connection.execute(
            "SELECT text FROM vocabulary WHERE run_id = ? AND token_id = ?", (run_id, token_id)
        )
        return decode_text(stored.fetchone()[0])


def _group_summary(group: GroupSample) -> tuple[SqlValue, ...]:
    judged = [sample.correct for sample in group.completions if sample.correct is not None]
    return (
        len(group.completions),
        sum(judged) if judged else None,
        sample_std(sample.reward for sample in group.completions),
        any(sample.advantage != 0 for sample in group.completions),
    )


def sample_std(values: Iterable[float | None]) -> float:
    """Over the finite values, scaled by the greatest so that no square overflows; 0 for fewer than two."""
    finite = [value for value in values if value is not None and math.isfinite(value)]
    scale = max(map(abs, finite), default=0.0)
    if len(finite) < 2 or scale == 0.0:
        return 0.0
    scaled = [value / scale for value in finite]
    mean = math.fsum(scaled) / len(scaled)
    return scale * math.sqrt(math.fsum((value - mean) ** 2 for value in scaled) / (len(scaled) - 1))


def _completion_values(sample: CompletionSample) -> tuple[SqlValue, ...]:
    return (
        encode_text(sample.text),
        len(sample.token_ids),
        sample.truncated,
        sample.correct,
        sample.reward,
        sample.advantage,
        sample.ratio_min,
        sample.ratio_max,
        sample.clip_fraction_low,
        sample.clip_fraction_high,
        sample.kl_mean,
        sample.kl_max,
        nan_columns(reward=sample.reward, kl_mean=sample.kl_mean, kl_max=sample.kl_max),
    )


def _reward_rows(completion_id: int, sample: CompletionSample) -> Rows:
    return [
        (completion_id, position, encode_text(source), value, 1 if value is not None and math.isnan(value) else None)
        for position, (source, value) in enumerate(sample.rewards)
    ]
