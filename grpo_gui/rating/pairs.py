"""Strengths from comparisons of pairs: the regularised Bradley-Terry model."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grpo_gui.rating_events import PairResult

Float64Array = npt.NDArray[np.float64]

PENALTY = 1.0  # lambda: keeps the strength of one that won every comparison finite
_TOLERANCE = 1e-10
_MOST_ROUNDS = 100


def bradley_terry(pairs: Sequence[PairResult]) -> dict[int, float]:
    """Return the strength of everything that was compared, by its number; they sum to 0.

    Maximises sum(r log s(d) + (1 - r) log s(-d)) - penalty / 2 sum(theta^2) with d the difference of the strengths, s
    the logistic function and r = 1, .5 (a tie is half a win each) or 0. Newton's method; the maximum is unique.
    Source: Bradley and Terry 1952.
    """
    names = sorted({name for first, second, _ in pairs for name in (first, second)})
    if not names:
        return {}
    place = {name: index for index, name in enumerate(names)}
    design = np.zeros((len(pairs), len(names)))
    for row, (first, second, _) in enumerate(pairs):
        design[row, place[first]] += 1.0
        design[row, place[second]] -= 1.0
    result = np.array([r for _, _, r in pairs], dtype=np.float64)
    strengths = np.zeros(len(names))
    for _ in range(_MOST_ROUNDS):
        step = _newton_step(design, result, strengths)
        while _objective(design, result, strengths + step) < _objective(design, result, strengths) - 1e-12:
            step /= 2  # a whole step may overshoot; a part of it never does, because the objective is concave
        strengths = strengths + step
        if float(np.abs(step).max()) < _TOLERANCE:
            break
    return {name: float(strengths[place[name]]) for name in names}


def _newton_step(design: Float64Array, result: Float64Array, strengths: Float64Array) -> Float64Array:
    chance = 1.0 / (1.0 + np.exp(-(design @ strengths)))
    gradient = design.T @ (result - chance) - PENALTY * strengths
    curvature = design.T @ (design * (chance * (1 - chance))[:, None]) + PENALTY * np.eye(len(strengths))
    return np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)


def _objective(design: Float64Array, result: Float64Array, strengths: Float64Array) -> float:
    difference = design @ strengths
    likelihood = result * -np.logaddexp(0.0, -difference) + (1 - result) * -np.logaddexp(0.0, difference)
    return float(likelihood.sum() - PENALTY / 2 * (strengths @ strengths))
