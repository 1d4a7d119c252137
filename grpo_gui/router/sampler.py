"""Whom to ask: the Thompson sampler's probabilities, and an ordered draw whose propensities are known exactly."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grpo_gui.grpo.advantages import Float64Array

Int64Array = npt.NDArray[np.int64]

_POINTS = 64  # of the integral, evenly spaced
_OWN_POINTS = 17  # and spaced by each model's deviation, so that narrow beliefs beside wide ones are seen
_FEW = 32  # up to so many models have points of their own
_REACH = 4.5  # standard deviations that the integral covers
_LEAST_DEVIATION = 1e-6


def best_probabilities(means: Float64Array, deviations: Float64Array) -> Float64Array:
    """The probability of each model to be the best, for independent normal beliefs: Thompson's choice probabilities.

    The integral of f_i(x) * prod_{j != i} F_j(x) by sums over a fixed number of points, so that there is no noise in
    what is logged as the propensity.
    """
    if len(means) == 1:
        return np.ones(1)
    deviations = np.maximum(deviations, _LEAST_DEVIATION)
    reach = _REACH * deviations
    edges_K = np.linspace((means - reach).max(), (means + reach).max(), _POINTS + 1)
    if len(means) <= _FEW:
        own = means + np.linspace(-1, 1, _OWN_POINTS)[:, None] * reach
        edges_K = np.unique(np.concatenate((edges_K, own[own > edges_K[0]])))
    cdf_AK = _normal_cdf((edges_K - means[:, None]) / deviations[:, None])
    cdf_AK[:, 0] = 0.0  # what lies below the range, and loses there, counts as lying in its first interval
    mass_AK = np.diff(cdf_AK)
    log_below_AK = np.log(np.maximum((cdf_AK[:, 1:] + cdf_AK[:, :-1]) / 2, 1e-300))
    wins_AK = mass_AK * np.exp(log_below_AK.sum(0) - log_below_AK)
    probabilities = wins_AK.sum(1)
    return np.asarray(probabilities / probabilities.sum())


def with_floor(probabilities: Float64Array, floor: float) -> Float64Array:
    """Mix in a uniform share so that each gets at least `floor`, or half a uniform share where there are too many."""
    count = len(probabilities)
    floor = min(floor, 0.5 / count)
    return floor + (1 - count * floor) * probabilities


def ordered_draw(
    probabilities: Float64Array, count: int, uniforms: Sequence[float]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Draw `count` different indices one after the other; each with its probability given those before it.

    `uniforms` are `count` numbers in [0, 1).
    """
    remaining = probabilities.copy()
    chosen: list[int] = []
    propensities: list[float] = []
    for uniform in uniforms[:count]:
        cumulative = remaining.cumsum()
        total = float(cumulative[-1])
        index = min(int(cumulative.searchsorted(uniform * total, side="right")), len(remaining) - 1)
        while remaining[index] <= 0:  # rounding at the upper end
            index -= 1
        chosen.append(index)
        propensities.append(float(remaining[index]) / total)
        remaining[index] = 0.0
    return tuple(chosen), tuple(propensities)


def sequential_probabilities(probabilities: Float64Array, chosen: Sequence[int]) -> tuple[float, ...]:
    """The probabilities with which `ordered_draw` would draw `chosen` in this order."""
    left = float(probabilities.sum())
    result: list[float] = []
    for index in chosen:
        result.append(float(probabilities[index]) / left)
        left = max(left - float(probabilities[index]), 1e-12)
    return tuple(result)


def _normal_cdf(z: Float64Array) -> Float64Array:
    """The standard normal distribution function to about 3e-4 (Page 1977), without a special function."""
    return np.asarray(0.5 * (1 + np.tanh(0.7978845608028654 * (z + 0.044715 * z**3))))
