"""Filters of the Completions view: the query's fields as removable chips, and the sort orders by name."""

from dataclasses import dataclass, fields, replace

from grpo_gui.store.records import CompletionQuery
from grpo_gui.ui.models.completion_columns import Column

SORTS: tuple[tuple[str, str], ...] = (
    ("newest", "newest first"),
    ("oldest", "oldest first"),
    ("reward_high", "highest reward"),
    ("reward_low", "lowest reward"),
    ("advantage_high", "highest advantage"),
    ("advantage_low", "lowest advantage"),
    ("kl_high", "highest KL"),
    ("clipped_high", "most clipped"),
    ("longest", "longest first"),
    ("shortest", "shortest first"),
)
# The orders of a column, as clicks on its header go through them; behind the last one, the newest come first again.
SORTS_OF: dict[Column, tuple[str, ...]] = {
    Column.NUMBER: ("newest", "oldest"),
    Column.REWARD: ("reward_high", "reward_low"),
    Column.ADVANTAGE: ("advantage_high", "advantage_low"),
    Column.TOKENS: ("longest", "shortest"),
    Column.CLIPPED: ("clipped_high",),
    Column.KL: ("kl_high",),
}
RISING = frozenset({"oldest", "reward_low", "advantage_low", "shortest"})
RANGES: dict[str, tuple[str, str, str]] = {
    "steps": ("min_step", "max_step", "step"),
    "reward": ("min_reward", "max_reward", "reward"),
    "tokens": ("min_tokens", "max_tokens", "tokens"),
}


_NOT_SET = {field.name: field.default for field in fields(CompletionQuery)}


def sorted_by(sort: str) -> Column:
    """The column that an order goes by."""
    return next(column for column, sorts in SORTS_OF.items() if sort in sorts)


def next_sort(column: Column, sort: str) -> str:
    """The order that a click on a column's header asks for, when `sort` is the order now."""
    sorts = SORTS_OF.get(column)
    if sorts is None:
        return sort
    place = sorts.index(sort) + 1 if sort in sorts else 0
    return sorts[place] if place < len(sorts) else "newest"


@dataclass(frozen=True, slots=True)
class Chip:
    """One active filter: its label and the query fields that its cross clears."""

    label: str
    fields: tuple[str, ...]


def chips(query: CompletionQuery) -> tuple[Chip, ...]:
    """Give the active filters in a fixed order; the search text is shown in its own field, not as a chip."""
    found = []
    for name in RANGES:
        label = range_label(query, name)
        if label:
            found.append(Chip(label, RANGES[name][:2]))
    if query.task is not None:
        found.append(Chip(f"task: {query.task}", ("task",)))
    if query.correct is not None:
        found.append(Chip("right" if query.correct else "wrong", ("correct",)))
    if query.truncated is not None:
        found.append(Chip("truncated" if query.truncated else "ended by itself", ("truncated",)))
    if query.superseded:
        found.append(Chip("superseded", ("superseded",)))
    return tuple(found)


def range_label(query: CompletionQuery, name: str) -> str:
    """Say a range filter in words ("step 150 to 200"); empty when it is not set."""
    low_field, high_field, noun = RANGES[name]
    low, high = getattr(query, low_field), getattr(query, high_field)
    if low is None and high is None:
        return ""
    if name == "tokens":
        return _length_label(low, high)
    if low == high:
        return f"{noun} {_number(low)}"
    if high is None:
        return f"{noun} from {_number(low)}"
    if low is None:
        return f"{noun} up to {_number(high)}"
    return f"{noun} {_number(low)} to {_number(high)}"


def without(query: CompletionQuery, chip: Chip) -> CompletionQuery:
    """Give the query without the filter of a chip."""
    return with_fields(query, **{field: _NOT_SET[field] for field in chip.fields})


def with_fields(query: CompletionQuery, **fields: object) -> CompletionQuery:
    """Give the query with some fields set; a new query, as records are frozen."""
    return replace(query, **fields)  # type: ignore[arg-type]  # field names come from RANGES and Chip


def cleared(query: CompletionQuery) -> CompletionQuery:
    """Give the query without any filter and search; run and sort order stay."""
    return CompletionQuery(run_id=query.run_id, sort=query.sort)


def is_filtered(query: CompletionQuery) -> bool:
    """True when some completions of the run may be left out."""
    return query != cleared(query)


def _length_label(low: int | None, high: int | None) -> str:
    if high is None:
        return f"{low} tokens or longer"
    if low is None:
        return f"{high} tokens or shorter"
    return f"{low} tokens" if low == high else f"{low} to {high} tokens"


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"
