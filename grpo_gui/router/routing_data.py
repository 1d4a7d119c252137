"""A user's own rewards for evaluation: a CSV with a query, its class, and one reward column per model."""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.context import context_from_text, derive_query_class
from grpo_gui.router.rewards import Outcome, TradeOff

QUERY, CLASS = "query", "class"
COST, LATENCY = ":cost", ":latency"
FIELD_LIMIT = 1 << 27  # characters of one cell
NO_TRADE_OFF = TradeOff()


@dataclass(frozen=True, slots=True)
class RoutingData:
    """N queries with what each of M models would earn: `qualities`, `costs` and `latencies` are (N, M)."""

    queries: tuple[str, ...]
    classes: tuple[str, ...]
    models: tuple[str, ...]
    qualities: Float64Array
    costs: Float64Array
    latencies: Float64Array
    trade_off: TradeOff = NO_TRADE_OFF

    @property
    def rewards(self) -> Float64Array:
        """The rewards (N, M) under the trade-off; computed at each call."""
        trade_off = self.trade_off
        return self.qualities - trade_off.cost_weight * self.costs - trade_off.latency_weight * self.latencies

    def outcome(self, row: int, column: int) -> Outcome:
        """What a model's answer to a query is worth."""
        return Outcome(self.qualities[row, column], self.costs[row, column], self.latencies[row, column])

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.queries)


def read_routing_csv(path: Path) -> RoutingData:
    """Read `query, class, MODEL..., [MODEL:cost], [MODEL:latency]`; an empty class follows from the query's text.

    Raises:
        BadInputError: the file cannot be read, or a cell cannot be used; the message names row and column.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = _rows(file, path)
    except OSError as error:
        raise BadInputError(f"{path} cannot be read ({error.strerror}); check the name.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInputError(f"{path} is not a CSV file in UTF-8: {error}.") from error
    header, lines = rows[0], rows[1:]
    models = _models(header, path)
    if not lines:
        raise BadInputError(f"{path} has a header and no rows; add at least one query.")
    queries = tuple(line[header.index(QUERY)] for line in lines)
    given = [line[header.index(CLASS)] if CLASS in header else "" for line in lines]
    classes = tuple(
        name or derive_query_class(context_from_text(query)) for name, query in zip(given, queries, strict=True)
    )
    return RoutingData(
        queries,
        classes,
        models,
        _numbers(header, lines, models, "", 1.0, path),
        _numbers(header, lines, models, COST, math.inf, path),
        _numbers(header, lines, models, LATENCY, math.inf, path),
    )


def _rows(file: Iterable[str], path: Path) -> list[list[str]]:
    previous = csv.field_size_limit(FIELD_LIMIT)
    try:
        rows = [row for row in csv.reader(file) if row]
    finally:
        csv.field_size_limit(previous)
    if not rows:
        raise BadInputError(f"{path} is empty; its first row must name the columns query, class and the models.")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise BadInputError(f"{path}, row {number}: it has {len(row)} cells, the header has {len(rows[0])}.")
    return rows


def _models(header: list[str], path: Path) -> tuple[str, ...]:
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise BadInputError(f"{path}: the column {twice!r} is there twice; name each column once.")
    if QUERY not in header:
        raise BadInputError(f"{path} has no column `query`; the first row must name the columns query, class, models.")
    models = tuple(name for name in header if name not in (QUERY, CLASS) and not name.endswith((COST, LATENCY)))
    if not models or "" in models:
        raise BadInputError(f"{path} has no column with a model's rewards, or one without a name; add one per model.")
    for name in header:
        for suffix in (COST, LATENCY):
            if name.endswith(suffix) and name.removesuffix(suffix) not in models:
                raise BadInputError(f"{path}: the column {name!r} belongs to no model; add its reward column.")
    return models


def _numbers(
    header: list[str], lines: list[list[str]], models: tuple[str, ...], suffix: str, highest: float, path: Path
) -> Float64Array:
    values = np.zeros((len(lines), len(models)))
    for column, model in enumerate(models):
        if model + suffix not in header:
            continue
        place = header.index(model + suffix)
        for row, line in enumerate(lines):
            try:
                value = float(line[place])
            except ValueError:
                value = math.nan
            if not math.isfinite(value) or not 0 <= value <= highest:
                allowed = "of 0 or more" if math.isinf(highest) else "from 0 to 1"
                raise BadInputError(
                    f"{path}, row {row + 2}, column {header[place]!r}: {line[place]!r} is no number {allowed}."
                )
            values[row, column] = value
    return values
