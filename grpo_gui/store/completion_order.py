"""Finds the next completions, or groups, in a query's order.

Pages are keysets: a page goes on after the sort value and id of the last row, so that rows written meanwhile
shift nothing. NULL sorts last, hence two parts: rows with a sort value (cursor (0, value, id)), then rows
without (cursor (1, id)).

Every statement names its way through the file. Ids rise with the steps of a run, so the orders by step, and
every search that may read all, go through the rows as they lie. The index of another order is quick where
matches are frequent and slow where they are rare, since each row is looked up elsewhere in the file; so it
is tried for the next `WINDOW` rows only. With a million completions either way stays below a second.
"""

from dataclasses import dataclass

from grpo_gui.store.completion_filters import Condition, SortOrder, filters, sort_order, state
from grpo_gui.store.encoding import SqlValue
from grpo_gui.store.reading import ReadConnection
from grpo_gui.store.records import CompletionQuery

WINDOW = 20_000
FEW_ROWS = 50_000  # so many are read and sorted as quickly as a window

Cursor = tuple[float | int, ...]

_EDGE_STEP = """SELECT step FROM groups WHERE run_id = :run AND superseded = 0 AND size > 0
AND step >= :min_step AND step <= :max_step ORDER BY step"""
_EDGE_ID = """FROM groups g JOIN completions c ON c.group_id = g.id
WHERE g.run_id = :run AND g.superseded = 0 AND g.step ="""
_SPAN = f"""SELECT (SELECT min(c.id) {_EDGE_ID} ({_EDGE_STEP} LIMIT 1)),
(SELECT max(c.id) {_EDGE_ID} ({_EDGE_STEP} DESC LIMIT 1))"""
# Steps that were done anew more than once do not rise with the ids, so nothing is known of where they lie.
_SPAN_OF_SUPERSEDED = "SELECT min(id), max(id) FROM completions NOT INDEXED WHERE run_id = :run AND superseded > 0"
_LAST_STEP = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a completion, or the first one of a group, stands in the order; `value` None: it has no sort value."""

    value: float | int | None
    completion_id: int
    group_id: int


def next_places(
    connection: ReadConnection, query: CompletionQuery, cursor: Cursor | None, limit: int, *, by_group: bool
) -> tuple[list[Place], Cursor | None]:
    """The next places in the query's order, and the cursor behind them, None at the end.

    A group stands where its first completion in the query's order stands.

    Raises:
        BadInputError: there is no such order.
    """
    finder = _Finder(connection, query, sort_order(query), by_group)
    places: list[Place] = []
    if cursor is None or cursor[0] == 0:
        places += finder.with_value(None if cursor is None else (cursor[1], cursor[2]), limit + 1)
        cursor = None
    if len(places) <= limit:
        places += finder.without_value(None if cursor is None else cursor[1], limit + 1 - len(places))
    if len(places) <= limit:
        return places, None
    last = places[limit - 1]
    return places[:limit], (1, last.completion_id) if last.value is None else (0, last.value, last.completion_id)


def rows_of_run(connection: ReadConnection, query: CompletionQuery) -> Condition:
    """The rows `c` of the query's run and steps, as they lie in the file: a span of ids."""
    values = {
        "run": query.run_id,
        "min_step": 0 if query.min_step is None else query.min_step,
        "max_step": _LAST_STEP if query.max_step is None else query.max_step,
    }
    if query.superseded:
        low, high = connection.rows(_SPAN_OF_SUPERSEDED, {"run": query.run_id})[0]
    else:
        low, high = connection.rows(_SPAN, values)[0]
    if low is None:
        low, high = 0, -1
    return Condition(f"c.id BETWEEN ? AND ? AND c.run_id = ? AND c.{state(query)}", (low, high, query.run_id))


class _Finder:
    """The statements of one query."""

    def __init__(self, connection: ReadConnection, query: CompletionQuery, order: SortOrder, by_group: bool) -> None:
        self._connection = connection
        self._query = query
        self._order = order
        self._by_group = by_group
        self._wanted = filters(query)
        self._rows = rows_of_run(connection, query)
        self._column = f"c.{order.column}"
        self._index = f"completions c INDEXED BY completions_by_{order.column}"
        self._direction = "DESC" if order.descending else "ASC"
        self._later = "<" if order.descending else ">"
        self._up_to = ">=" if order.descending else "<="

    def with_value(self, after: Cursor | None, limit: int) -> list[Place]:
        """The places with a sort value behind `after`."""
        if self._order.column == "step":
            return self._by_step(after, limit)
        if self._span() > FEW_ROWS and not self._query.superseded:  # the indexes hold only what counts
            end = self._end_of_window(after)
            places = self._along_the_index(after, end, limit)
            if end is None or len(places) == limit:
                return places
        return self._best_groups(after, limit) if self._by_group else self._all_rows(after, limit)

    def without_value(self, before_id: SqlValue, limit: int) -> list[Place]:
        """The places without a sort value, newest first, older than `before_id`."""
        if self._order.column == "step":
            return []
        source = "completions c NOT INDEXED" if self._query.superseded else self._index
        sql = f"SELECT NULL, c.id, c.group_id FROM {source} "
        sql += f"WHERE c.run_id = ? AND c.{state(self._query)} AND {self._column} IS NULL AND {self._wanted.sql}"
        values: tuple[SqlValue, ...] = (self._query.run_id, *self._wanted.values)
        if before_id is not None:
            sql += " AND c.id < ?"
            values += (before_id,)
        best = self._no_other(f"(b.{self._order.column} IS NOT NULL OR b.id > c.id)")
        return self._places(f"{sql}{best.sql} ORDER BY c.id DESC LIMIT ?", (*values, *best.values, limit))

    def _span(self) -> int:
        low, high, _ = self._rows.values
        assert isinstance(low, int)
        assert isinstance(high, int)
        return high - low + 1

    def _by_step(self, after: Cursor | None, limit: int) -> list[Place]:
        sql = f"SELECT c.step, c.id, c.group_id FROM completions c NOT INDEXED WHERE {self._rows.sql} "
        sql += f"AND {self._wanted.sql}"
        values = (*self._rows.values, *self._wanted.values)
        if after is not None:
            sql += f" AND c.id {self._later} ?"
            values += (after[1],)
        best = self._no_other(f"c.id {self._later} b.id")
        return self._places(f"{sql}{best.sql} ORDER BY c.id {self._direction} LIMIT ?", (*values, *best.values, limit))

    def _end_of_window(self, after: Cursor | None) -> Cursor | None:
        """The sort value and id of the row `WINDOW` rows further on, None when there are not so many."""
        sql = f"SELECT {self._column}, c.id FROM {self._index} "
        sql += f"WHERE c.run_id = ? AND c.superseded = 0 AND {self._column} IS NOT NULL"
        values: tuple[SqlValue, ...] = (self._query.run_id,)
        if after is not None:
            sql += f" AND ({self._column}, c.id) {self._later} (?, ?)"
            values += after
        return self._connection.row(f"{sql} {self._order_by()} LIMIT 1 OFFSET ?", (*values, WINDOW))

    def _along_the_index(self, after: Cursor | None, end: Cursor | None, limit: int) -> list[Place]:
        sql = f"SELECT {self._column}, c.id, c.group_id FROM {self._index} "
        sql += f"WHERE c.run_id = ? AND c.superseded = 0 AND {self._column} IS NOT NULL AND {self._wanted.sql}"
        values: tuple[SqlValue, ...] = (self._query.run_id, *self._wanted.values)
        if after is not None:
            sql += f" AND ({self._column}, c.id) {self._later} (?, ?)"
            values += after
        if end is not None:
            sql += f" AND ({self._column}, c.id) {self._up_to} (?, ?)"
            values += end
        earlier = f"(c.{self._order.column}, c.id) {self._later} (b.{self._order.column}, b.id)"
        best = self._no_other(earlier)
        return self._places(f"{sql}{best.sql} {self._order_by()} LIMIT ?", (*values, *best.values, limit))

    def _all_rows(self, after: Cursor | None, limit: int) -> list[Place]:
        sql = f"SELECT {self._column}, c.id, c.group_id FROM completions c NOT INDEXED "
        sql += f"WHERE {self._rows.sql} AND {self._column} IS NOT NULL AND {self._wanted.sql}"
        values = (*self._rows.values, *self._wanted.values)
        if after is not None:
            sql += f" AND ({self._column}, c.id) {self._later} (?, ?)"
            values += after
        return self._places(f"{sql} {self._order_by()} LIMIT ?", (*values, limit))

    def _best_groups(self, after: Cursor | None, limit: int) -> list[Place]:
        """The same for groups. Ids of groups rise with those of their completions, so they decide ties alike."""
        best, edge = ("max", "min") if self._order.descending else ("min", "max")
        sql = f"SELECT {best}({self._column}) AS value, {edge}(c.id), c.group_id "
        sql += f"FROM completions c NOT INDEXED WHERE {self._rows.sql} AND {self._wanted.sql} "
        sql += "GROUP BY c.group_id HAVING value IS NOT NULL"
        values = (*self._rows.values, *self._wanted.values)
        if after is not None:
            sql += f" AND (value, c.group_id) {self._later} (?, (SELECT group_id FROM completions WHERE id = ?))"
            values += after
        sql += f" ORDER BY value {self._direction}, c.group_id {self._direction} LIMIT ?"
        return self._places(sql, (*values, limit))

    def _order_by(self) -> str:
        return f"ORDER BY {self._column} {self._direction}, c.id {self._direction}"

    def _no_other(self, earlier: str) -> Condition:
        """For groups: no other completion of the query in the same group comes `earlier`."""
        if not self._by_group:
            return Condition("", ())
        other = filters(self._query, "b")
        return Condition(
            " AND NOT EXISTS (SELECT 1 FROM completions b INDEXED BY completions_by_group "
            f"WHERE b.group_id = c.group_id AND {other.sql} AND {earlier})",
            other.values,
        )

    def _places(self, sql: str, values: tuple[SqlValue, ...]) -> list[Place]:
        return [Place(*row) for row in self._connection.rows(sql, values)]
