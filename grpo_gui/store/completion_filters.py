"""Turns a completion query into a condition in SQL, and its order into a keyset."""

from dataclasses import dataclass

from grpo_gui.errors import BadInputError
from grpo_gui.store.encoding import SqlValue, encode_text
from grpo_gui.store.records import CompletionQuery


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the completions `c`, with the values for its question marks."""

    sql: str
    values: tuple[SqlValue, ...]


@dataclass(frozen=True, slots=True)
class SortOrder:
    """A column of the completions to sort by, with the id to decide ties. NULL comes last in either direction."""

    column: str
    descending: bool


SORT_ORDERS = {
    "newest": SortOrder("step", True),
    "oldest": SortOrder("step", False),
    "reward_high": SortOrder("reward", True),
    "reward_low": SortOrder("reward", False),
    "longest": SortOrder("tokens", True),
    "shortest": SortOrder("tokens", False),
    "advantage_high": SortOrder("advantage", True),
    "advantage_low": SortOrder("advantage", False),
    "kl_high": SortOrder("kl_max", True),
    "clipped_high": SortOrder("clip_fraction", True),
}


def sort_order(query: CompletionQuery) -> SortOrder:
    """The order that the query asks for.

    Raises:
        BadInputError: there is no such order.
    """
    order = SORT_ORDERS.get(query.sort)
    if order is None:
        raise BadInputError(f"There is no order {query.sort!r} of completions; there are {', '.join(SORT_ORDERS)}.")
    return order


def state(query: CompletionQuery) -> str:
    """The condition on the column `superseded`: the rows that count, or those that were replaced."""
    return "superseded > 0" if query.superseded else "superseded = 0"


def filters(query: CompletionQuery, alias: str = "c") -> Condition:
    """What the query asks of a completion beside its run; `alias` is the table in the statement."""
    parts = ["1"]
    values: list[SqlValue] = []
    for sql, value in (*_step_limits(query), *_limits(query)):
        if value is not None:
            parts.append(f"{alias}.{sql}")
            values.append(value)
    if query.search:
        search = _search(query.search, alias)
        parts.append(search.sql)
        values.extend(search.values)
    return Condition(" AND ".join(parts), tuple(values))


def step_filters(query: CompletionQuery) -> Condition | None:
    """The filters when they ask for nothing but steps (columns unqualified, every group whole), else None."""
    if query.search or any(value is not None for _, value in _limits(query)):
        return None
    asked = [(sql, value) for sql, value in _step_limits(query) if value is not None]
    return Condition(" AND ".join(["1", *(sql for sql, _ in asked)]), tuple(value for _, value in asked))


def _step_limits(query: CompletionQuery) -> list[tuple[str, SqlValue]]:
    return [("step >= ?", query.min_step), ("step <= ?", query.max_step)]


def _limits(query: CompletionQuery) -> list[tuple[str, SqlValue]]:
    task = None if query.task is None else encode_text(query.task)
    return [
        ("prompt_id IN (SELECT id FROM prompts WHERE task = ?)", task),
        ("correct = ?", query.correct),
        ("truncated = ?", query.truncated),
        ("reward >= ?", query.min_reward),
        ("reward <= ?", query.max_reward),
        ("tokens >= ?", query.min_tokens),
        ("tokens <= ?", query.max_tokens),
    ]


def _search(text: str, alias: str) -> Condition:
    """Text anywhere in prompt or completion, without regard to the case of ASCII letters.

    Odd text is stored as bytes, which LIKE cuts at NUL: it is compared byte by byte, case included.
    """
    needle = encode_text(text)
    raw = text.encode("utf-8", "surrogatepass")
    if isinstance(needle, bytes):
        test = "(typeof({0}) = 'blob' AND instr({0}, ?) > 0)"
        values: tuple[SqlValue, ...] = (needle,)
    else:
        pattern = "%" + needle.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        test = "({0} LIKE ? ESCAPE '\\' OR (typeof({0}) = 'blob' AND instr({0}, ?) > 0))"
        values = (pattern, raw)
    prompts = f"SELECT id FROM prompts WHERE {test.format('prompt')}"
    return Condition(f"({test.format(f'{alias}.text')} OR {alias}.prompt_id IN ({prompts}))", (*values, *values))
