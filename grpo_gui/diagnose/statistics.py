"""The statistics that the detectors share: small, exact, numpy only."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from grpo_gui.distributions import incomplete_beta, upper_gamma

Float64Array = npt.NDArray[np.float64]


class Trend(NamedTuple):
    """Mann-Kendall: `z` above 0 means rising; `p` is two-sided."""

    z: float
    p: float


class Line(NamedTuple):
    """A least-squares line over the index: slope per value, its standard error, and the share explained."""

    slope: float
    error: float
    r_squared: float


@lru_cache(maxsize=16)
def _upper(count: int) -> npt.NDArray[np.bool_]:
    return np.triu(np.ones((count, count), dtype=bool), 1)


def mann_kendall(values: Float64Array) -> Trend:
    """Whether values rise or fall, by ranks alone, so that no spike decides. Ties are corrected for.

    Source: Mann 1945, Kendall 1975; S = sum of sign(x_j - x_i) over i < j, z = (S -+ 1) / sqrt(Var S).
    """
    count = len(values)
    if count < 3:
        return Trend(0.0, 1.0)
    signs = np.sign(values[None, :] - values[:, None])
    score = float(signs[_upper(count)].sum())
    variance = count * (count - 1) * (2 * count + 5)
    if not signs.all(where=_upper(count)):
        _, ties = np.unique(values, return_counts=True)
        variance -= int((ties * (ties - 1) * (2 * ties + 5)).sum())
    if variance <= 0:
        return Trend(0.0, 1.0)
    z = (score - math.copysign(min(1.0, abs(score)), score)) / math.sqrt(variance / 18)
    return Trend(z, math.erfc(abs(z) / math.sqrt(2)))


def theil_sen(values: Float64Array) -> float:
    """The median of the slopes between all pairs of values, which spikes hardly move (Theil 1950, Sen 1968)."""
    slopes = [(values[gap:] - values[:-gap]) / gap for gap in range(1, len(values))]
    return median(np.concatenate(slopes))


def fitted_line(values: Float64Array) -> Line:
    """The least-squares line through values at equal distances; needs three."""
    count = len(values)
    x = np.arange(count) - (count - 1) / 2
    squares = count * (count * count - 1) / 12
    centred = values - values.mean()
    slope = float(x @ centred) / squares
    total = float(centred @ centred)
    rest = max(total - slope * slope * squares, 0.0)
    return Line(slope, math.sqrt(rest / (count - 2) / squares), 1 - rest / total if total > 0 else 0.0)


def normal_p(z: float) -> float:
    """Two-sided p of a standard normal value."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_p(t: float, freedom: float) -> float:
    """Two-sided p of Student's t with `freedom` > 0 degrees of freedom."""
    return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def welch_p(first: tuple[float, float, int], second: tuple[float, float, int]) -> float:
    """Two-sided p that two samples (mean, variance, count) have one mean; 1 with fewer than two values in either.

    Source: Welch 1947, with the Welch-Satterthwaite degrees of freedom.
    """
    (mean_a, var_a, n_a), (mean_b, var_b, n_b) = first, second
    if min(n_a, n_b) < 2:
        return 1.0
    a, b = var_a / n_a, var_b / n_b
    if a + b == 0:
        return 1.0 if mean_a == mean_b else 0.0
    freedom = (a + b) ** 2 / (a * a / (n_a - 1) + b * b / (n_b - 1))
    return student_p((mean_a - mean_b) / math.sqrt(a + b), freedom)


def sign_test_p(positive: int, negative: int) -> float:
    """Two-sided exact p of the sign test; ties are left out before."""
    count = positive + negative
    if not count:
        return 1.0
    ways = sum(math.comb(count, k) for k in range(max(positive, negative), count + 1))
    return min(1.0, float(2 * ways) / 2.0**count)


def chi_square_p(counts: Float64Array, expected: Float64Array) -> float:
    """Return p of Pearson's chi-square that counts are as expected."""
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return upper_gamma((len(counts) - 1) / 2, statistic / 2)


def ranks(values: npt.NDArray[np.float64]) -> Float64Array:
    """Ranks from 1 along the last axis; equal values share their mean rank; NaN gets NaN and is not counted."""
    known = ~np.isnan(values)
    less = (values[..., None, :] < values[..., :, None]).sum(axis=-1)
    equal = (values[..., None, :] == values[..., :, None]).sum(axis=-1)
    return np.where(known, less + (equal + 1) / 2, np.nan)


def row_correlations(first: Float64Array, second: Float64Array) -> Float64Array:
    """Pearson correlation of each row of two arrays (P, G), NaN where a row has no spread; NaN pairs are left out."""
    known = ~(np.isnan(first) | np.isnan(second))
    count = np.maximum(known.sum(axis=1), 1)[:, None]
    a, b = np.where(known, first, 0.0), np.where(known, second, 0.0)
    a = np.where(known, a - a.sum(axis=1, keepdims=True) / count, 0.0)
    b = np.where(known, b - b.sum(axis=1, keepdims=True) / count, 0.0)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(scale > 1e-12, (a * b).sum(axis=1) / scale, np.nan)


def row_spearman(first: Float64Array, second: Float64Array) -> Float64Array:
    """Spearman's rank correlation of each row of two arrays (P, G)."""
    both = ranks(np.stack((first, second)))
    return row_correlations(both[0], both[1])


def mean_of(values: Float64Array) -> float:
    """The mean; several times faster than numpy's for a few dozen values."""
    return float(np.add.reduce(values)) / len(values)


def median(values: Float64Array) -> float:
    """The median; several times faster than numpy's for a few dozen values."""
    ordered = np.sort(values)
    middle = len(ordered) // 2
    return float(ordered[middle]) if len(ordered) % 2 else float(ordered[middle - 1] + ordered[middle]) / 2
