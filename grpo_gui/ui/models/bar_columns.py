"""What the token bars draw: columns of pixels, the range of the y axis, its ticks, and which tokens get a label."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_gui.ui.models.token_values import FloatArray, nice_ceiling

_LABELS = 5


@dataclass(frozen=True, slots=True)
class BarColumn:
    """One drawn bar: the token with the largest size among those that share its pixels."""

    token: int
    left: float  # in pixels from the left of the plot
    width: float
    value: float


def bar_columns(values: FloatArray, width: float) -> list[BarColumn]:
    """Place bars for values of shape (T,) in `width` pixels; with less than two pixels a token, tokens share columns.

    Tokens without a value get no bar.
    """
    count = len(values)
    if count == 0 or width < 1:
        return []
    per_column = max(1, math.ceil(2 * count / width))
    columns = math.ceil(count / per_column)
    slot = min(width / columns, 24.0)
    bar = max(1.0, slot * 0.62)
    result = []
    for column in range(columns):
        first = column * per_column
        sizes = np.abs(values[first : first + per_column])
        if not np.isfinite(sizes).any():
            continue
        token = first + int(np.nanargmax(np.where(np.isfinite(sizes), sizes, np.nan)))
        result.append(BarColumn(token, column * slot + (slot - bar) / 2, bar, float(values[token])))
    return result


def token_at(x: float, count: int, width: float) -> int:
    """Give the token whose column lies at `x` pixels; the nearest one beside the bars."""
    per_column = max(1, math.ceil(2 * count / max(width, 1.0)))
    slot = min(width / math.ceil(count / per_column), 24.0)
    return min(max(int(x / slot) * per_column, 0), count - 1)


def y_range(values: FloatArray, bounds: Sequence[float]) -> tuple[float, float]:
    """Give the ends of the y axis: zero, all values and bounds inside, padded by 8 percent."""
    finite = values[np.isfinite(values)]
    points = [0.0, *bounds, *((float(finite.min()), float(finite.max())) if finite.size else ())]
    low, high = min(points), max(points)
    if high - low < 1e-6:
        return -0.05, 0.05
    pad = 0.08 * (high - low)
    return (low - pad if low < 0 else 0.0), (high + pad if high > 0 else 0.0)


def y_ticks(low: float, high: float) -> list[float]:
    """Give up to five round values in the range, zero among them."""
    step = nice_ceiling(max(abs(low), abs(high)) / 2.5)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def labelled(columns: Sequence[BarColumn], labels: int = _LABELS) -> list[BarColumn]:
    """Choose the columns that get the token's text: the first and those with the largest sizes."""
    largest = sorted(columns[1:], key=lambda column: -abs(column.value))[: labels - 1]
    return sorted([*columns[:1], *largest], key=lambda column: column.left)
