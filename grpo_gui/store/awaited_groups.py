"""Finds the groups of a step that are stored already, because its update waited for ratings of them."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from grpo_gui.events import GroupSample
from grpo_gui.store.encoding import decode_text


class AwaitedGroup(NamedTuple):
    """A stored group with the ids of its completions, in order."""

    group_id: int
    completion_ids: tuple[int, ...]


def awaited_groups(
    connection: sqlite3.Connection, run_id: int, step: int, groups: Sequence[GroupSample]
) -> dict[int, AwaitedGroup]:
    """By index: the rows of the groups, where they hold the same texts; empty when the step is not stored yet.

    Groups with other texts are put aside: the step was sampled anew after something was changed.
    """
    rows = connection.execute(
        "SELECT g.id, g.position, p.prompt, c.id, c.text FROM groups g JOIN prompts p ON p.id = g.prompt_id "
        "JOIN completions c ON c.group_id = g.id WHERE g.run_id = ? AND g.superseded = 0 AND g.step = ? "
        "ORDER BY g.position, c.position",
        (run_id, step),
    ).fetchall()
    if not rows:
        return {}
    stored = [(position, decode_text(prompt), decode_text(text)) for _, position, prompt, _, text in rows]
    wanted = [(group.index, group.prompt, sample.text) for group in groups for sample in group.completions]
    if stored != wanted:
        _put_aside(connection, run_id, step)
        return {}
    found: dict[int, AwaitedGroup] = {}
    for group_id, position, _, completion_id, _ in rows:
        before = found.get(position, AwaitedGroup(group_id, ()))
        found[position] = AwaitedGroup(group_id, (*before.completion_ids, completion_id))
    return found


def _put_aside(connection: sqlite3.Connection, run_id: int, step: int) -> None:
    where = "run_id = :run AND superseded = 0 AND step = :step"
    values = {"run": run_id, "step": step}
    values["number"] = connection.execute(
        "SELECT 1 + max(superseded) FROM groups WHERE run_id = :run", values
    ).fetchone()[0]
    for table in ("completions", "groups"):
        connection.execute(f"UPDATE {table} SET superseded = :number WHERE {where}", values)
