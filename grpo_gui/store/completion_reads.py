"""Reads completions page by page, in any order, alone or under their groups.

Pages are keysets: a page goes on after the sort value and id of the last row, so that rows written meanwhile
shift nothing. NULL sorts last, hence two parts: rows with a sort value (cursor (0, value, id)), then rows
without (cursor (1, id)).
"""

from grpo_gui.store.completion_filters import Condition, SortOrder, condition, is_unfiltered, sort_order
from grpo_gui.store.encoding import SqlValue, decode_number, decode_optional_text, decode_text, number_or_nan
from grpo_gui.store.reading import ReadConnection, Row, placeholders
from grpo_gui.store.records import (
    CompletionPage,
    CompletionQuery,
    CompletionRef,
    CompletionRow,
    GroupPage,
    GroupRef,
    GroupSummary,
)

Cursor = tuple[float | int, ...]
Place = tuple[SqlValue, int, int]  # sort value, completion id, group id

_COMPLETIONS = """SELECT c.id, c.run_id, c.step, g.position, c.position, p.task, p.prompt, p.answer, c.text, c.reward,
c.advantage, c.tokens, c.truncated, c.correct, c.clip_fraction, c.kl_max, c.nan_columns, c.group_id
FROM completions c JOIN groups g ON g.id = c.group_id JOIN prompts p ON p.id = c.prompt_id"""
_GROUPS = """SELECT g.id, g.run_id, g.step, g.position, p.task, p.prompt, g.right_count, g.size, g.reward_std,
g.has_signal FROM groups g JOIN prompts p ON p.id = g.prompt_id"""


def completion_page(
    connection: ReadConnection, query: CompletionQuery, cursor: Cursor | None, limit: int
) -> CompletionPage:
    """The next completions after `cursor` in the query's order.

    Raises:
        BadInputError: there is no such order.
    """
    places, next_cursor = _places(connection, query, cursor, limit, best_of_group=False)
    ids = [completion_id for _, completion_id, _ in places]
    rows = {}
    for first in range(0, len(ids), 500):
        part = ids[first : first + 500]
        for row in connection.rows(f"{_COMPLETIONS} WHERE c.id IN ({placeholders(part)})", part):
            rows[row[0]] = _completion_row(row)
    return CompletionPage(tuple(rows[completion_id] for completion_id in ids), next_cursor)


def group_page(connection: ReadConnection, query: CompletionQuery, cursor: Cursor | None, limit: int) -> GroupPage:
    """The next groups that hold a completion of the query, each with its matching completions by their place.

    A group stands where its first completion in the query's order stands.

    Raises:
        BadInputError: there is no such order.
    """
    places, next_cursor = _places(connection, query, cursor, limit, best_of_group=True)
    wanted = condition(query)
    # The plus keeps SQLite from choosing another index than that of the group.
    in_group = f"c.group_id = ? AND {wanted.sql.replace('c.run_id', '+c.run_id')}"
    groups = []
    for _, _, group_id in places:
        header = connection.rows(f"{_GROUPS} WHERE g.id = ?", (group_id,))[0]
        rows = connection.rows(f"{_COMPLETIONS} WHERE {in_group} ORDER BY c.position", (group_id, *wanted.values))
        groups.append((_group_summary(header), tuple(_completion_row(row) for row in rows)))
    return GroupPage(tuple(groups), next_cursor)


def count(connection: ReadConnection, query: CompletionQuery) -> tuple[int, int]:
    """How many completions the query finds, and in how many groups."""
    if is_unfiltered(query):
        sql = "SELECT (SELECT completions FROM runs WHERE id = ?), "
        sql += "(SELECT count(*) FROM groups WHERE run_id = ? AND superseded = 0)"
        row = connection.rows(sql, (query.run_id, query.run_id))[0]
        return row[0] or 0, row[1]
    wanted = condition(query)
    sql = f"SELECT count(*), count(DISTINCT c.group_id) FROM completions c WHERE {wanted.sql}"
    row = connection.rows(sql, wanted.values)[0]
    return row[0], row[1]


def _places(
    connection: ReadConnection, query: CompletionQuery, cursor: Cursor | None, limit: int, *, best_of_group: bool
) -> tuple[list[Place], Cursor | None]:
    """The next places in the query's order and the cursor behind them, None at the end."""
    order = sort_order(query)
    wanted = condition(query)
    places: list[Place] = []
    if cursor is None or cursor[0] == 0:
        after = None if cursor is None else (cursor[1], cursor[2])
        statement = _with_value(order, wanted, after, limit + 1, _is_best(query, order, best_of_group))
        places += [(row[0], row[1], row[2]) for row in connection.rows(statement.sql, statement.values)]
        cursor = None
    if len(places) <= limit and order.column != "step":
        statement = _without_value(
            order, wanted, cursor, limit + 1 - len(places), _is_best_null(query, order, best_of_group)
        )
        places += [(None, row[0], row[1]) for row in connection.rows(statement.sql, statement.values)]
    if len(places) <= limit:
        return places, None
    value, completion_id, _ = places[limit - 1]
    return places[:limit], (1, completion_id) if value is None else (0, _number(value), completion_id)


def _with_value(order: SortOrder, wanted: Condition, after: Cursor | None, limit: int, best: Condition) -> Condition:
    column, direction = f"c.{order.column}", "DESC" if order.descending else "ASC"
    sql = f"SELECT {column}, c.id, c.group_id FROM completions c WHERE {wanted.sql} AND {column} IS NOT NULL"
    values = wanted.values
    if after is not None:
        sql += f" AND ({column}, c.id) {'<' if order.descending else '>'} (?, ?)"
        values += after
    sql += f"{best.sql} ORDER BY {column} {direction}, c.id {direction} LIMIT ?"
    return Condition(sql, (*values, *best.values, limit))


def _without_value(
    order: SortOrder, wanted: Condition, cursor: Cursor | None, limit: int, best: Condition
) -> Condition:
    sql = f"SELECT c.id, c.group_id FROM completions c WHERE {wanted.sql} AND c.{order.column} IS NULL"
    values = wanted.values
    if cursor is not None:
        sql += " AND c.id < ?"
        values += (cursor[1],)
    return Condition(f"{sql}{best.sql} ORDER BY c.id DESC LIMIT ?", (*values, *best.values, limit))


def _is_best(query: CompletionQuery, order: SortOrder, asked: bool) -> Condition:
    """No other completion of the query in the same group comes earlier; nothing when not `asked`."""
    if not asked:
        return Condition("", ())
    other = condition(query, "b")
    earlier = f"(b.{order.column}, b.id) {'>' if order.descending else '<'} (c.{order.column}, c.id)"
    return _no_other(other, earlier)


def _is_best_null(query: CompletionQuery, order: SortOrder, asked: bool) -> Condition:
    if not asked:
        return Condition("", ())
    return _no_other(condition(query, "b"), f"(b.{order.column} IS NOT NULL OR b.id > c.id)")


def _no_other(other: Condition, earlier: str) -> Condition:
    sql = other.sql.replace("b.run_id", "+b.run_id")
    return Condition(
        f" AND NOT EXISTS (SELECT 1 FROM completions b WHERE b.group_id = c.group_id AND {sql} AND {earlier})",
        other.values,
    )


def _number(value: SqlValue) -> float | int:
    assert isinstance(value, int | float)
    return value


def _completion_row(row: Row) -> CompletionRow:
    return CompletionRow(
        id=row[0],
        ref=CompletionRef(GroupRef(row[1], row[2], row[3]), row[4]),
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
    )


def _group_summary(row: Row) -> GroupSummary:
    return GroupSummary(
        ref=GroupRef(row[1], row[2], row[3]),
        task=decode_text(row[4]),
        prompt=decode_text(row[5]),
        right=row[6],
        size=row[7],
        reward_std=row[8],
        has_signal=bool(row[9]),
    )
