"""Reads completions page by page, alone or under their groups, and counts them."""

from grpo_gui.store.completion_filters import filters, state, step_filters
from grpo_gui.store.completion_order import Cursor, next_places, rows_of_run
from grpo_gui.store.encoding import decode_number, decode_optional_text, decode_text, number_or_nan
from grpo_gui.store.reading import ReadConnection, Row, parts, placeholders
from grpo_gui.store.records import (
    CompletionPage,
    CompletionQuery,
    CompletionRef,
    CompletionRow,
    GroupPage,
    GroupRef,
    GroupSummary,
)

_COLUMNS = """SELECT c.id, c.run_id, c.step, g.position, c.position, p.task, p.prompt, p.answer, c.text, c.reward,
c.advantage, c.tokens, c.truncated, c.correct, c.clip_fraction, c.kl_max, c.nan_columns, c.group_id, g.superseded,
(SELECT h.value FROM rewards h WHERE h.completion_id = c.id AND h.source = 'human')"""
_JOINS = "JOIN groups g ON g.id = c.group_id JOIN prompts p ON p.id = c.prompt_id"
_COMPLETIONS = f"{_COLUMNS} FROM completions c {_JOINS}"
_GROUP_COMPLETIONS = f"{_COLUMNS} FROM completions c INDEXED BY completions_by_group {_JOINS}"
_GROUPS = """SELECT g.id, g.run_id, g.step, g.position, p.task, p.prompt, g.right_count, g.size, g.reward_std,
g.has_signal, g.superseded FROM groups g JOIN prompts p ON p.id = g.prompt_id"""


def completion_page(
    connection: ReadConnection, query: CompletionQuery, cursor: Cursor | None, limit: int
) -> CompletionPage:
    """The next completions after `cursor` in the query's order.

    Raises:
        BadInputError: there is no such order.
    """
    places, next_cursor = next_places(connection, query, cursor, limit, by_group=False)
    ids = [place.completion_id for place in places]
    rows: dict[int, CompletionRow] = {}
    for part in parts(ids):
        for row in connection.rows(f"{_COMPLETIONS} WHERE c.id IN ({placeholders(part)})", part):
            rows[row[0]] = _completion_row(row)
    return CompletionPage(tuple(rows[completion_id] for completion_id in ids), next_cursor)


def group_page(connection: ReadConnection, query: CompletionQuery, cursor: Cursor | None, limit: int) -> GroupPage:
    """The next groups that hold a completion of the query, each with its matching completions by their place.

    A group stands where its first completion in the query's order stands.

    Raises:
        BadInputError: there is no such order.
    """
    places, next_cursor = next_places(connection, query, cursor, limit, by_group=True)
    wanted = filters(query)
    ids = [place.group_id for place in places]
    headers: dict[int, GroupSummary] = {}
    members: dict[int, list[CompletionRow]] = {group_id: [] for group_id in ids}
    for part in parts(ids):
        for row in connection.rows(f"{_GROUPS} WHERE g.id IN ({placeholders(part)})", part):
            headers[row[0]] = _group_summary(row)
        in_groups = f"WHERE c.group_id IN ({placeholders(part)}) AND {wanted.sql} ORDER BY c.position"
        for row in connection.rows(f"{_GROUP_COMPLETIONS} {in_groups}", (*part, *wanted.values)):
            members[row[17]].append(_completion_row(row))
    return GroupPage(tuple((headers[group_id], tuple(members[group_id])) for group_id in ids), next_cursor)


def count(connection: ReadConnection, query: CompletionQuery) -> tuple[int, int]:
    """How many completions the query finds, and in how many groups."""
    whole = step_filters(query)
    if whole is not None:
        sql = f"SELECT coalesce(sum(size), 0), count(*) FROM groups WHERE run_id = ? AND {state(query)} AND {whole.sql}"
        row = connection.rows(sql, (query.run_id, *whole.values))[0]
        return row[0], row[1]
    rows, wanted = rows_of_run(connection, query), filters(query)
    sql = "SELECT count(*), count(DISTINCT c.group_id) FROM completions c NOT INDEXED "
    row = connection.rows(f"{sql} WHERE {rows.sql} AND {wanted.sql}", (*rows.values, *wanted.values))[0]
    return row[0], row[1]


def _completion_row(row: Row) -> CompletionRow:
    return CompletionRow(
        id=row[0],
        ref=CompletionRef(GroupRef(row[1], row[2], row[3], row[18]), row[4]),
        task=decode_text(row[5]),
        prompt=decode_text(row[6]),
        answer=decode_optional_text(row[7]),
        text=decode_text(row[8]),
        reward=decode_number(row[9], "reward", row[16]),
        advantage=number_or_nan(row[10]),
        tokens=row[11],
        truncated=bool(row[12]),
        correct=None if row[13] is None else bool(row[13]),
        clip_fraction=number_or_nan(row[14]),
        kl_max=decode_number(row[15], "kl_max", row[16]),
        human=row[19],
    )


def _group_summary(row: Row) -> GroupSummary:
    return GroupSummary(
        ref=GroupRef(row[1], row[2], row[3], row[10]),
        task=decode_text(row[4]),
        prompt=decode_text(row[5]),
        right=row[6],
        size=row[7],
        reward_std=row[8],
        has_signal=bool(row[9]),
    )
