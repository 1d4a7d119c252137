"""Runs that differ only in their seed as one curve: their mean with a 95 % interval of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from grpo_gui.diagnose.statistics import student_p
from grpo_gui.store.records import Float64Array, RunRecord
from grpo_gui.ui.models.runs_difference import seedless

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Band:
    """The mean of several curves and the ends of the interval around it, at rising places."""

    places: Float64Array
    mean: Float64Array
    low: Float64Array
    high: Float64Array


def groups_by_seed(runs: Sequence[RunRecord]) -> list[list[RunRecord]]:
    """The runs in groups of equal config but for the seed, each at the place of its first run."""
    groups: dict[object, list[RunRecord]] = {}
    for run in runs:
        config = seedless(run)
        groups.setdefault((run.program.split(" ")[0], config) if config else run.id, []).append(run)
    return list(groups.values())


def seed_band(curves: Sequence[tuple[Float64Array, Float64Array]], confidence: float = CONFIDENCE) -> Band:
    """The mean of curves (places, values) and its interval by Student's t, where every curve has values.

    The places are those of all curves between the last beginning and the first end; a curve without a point at one of
    them is interpolated. With n curves the interval is mean +- t(n - 1) s / sqrt(n), s the sample standard deviation;
    it is NaN for a single curve.
    """
    known = [(x[np.isfinite(y)], y[np.isfinite(y)]) for x, y in curves]
    nothing = np.empty(0)
    if not known or not all(len(x) for x, _ in known):
        return Band(nothing, nothing, nothing, nothing)
    first, last = max(float(x[0]) for x, _ in known), min(float(x[-1]) for x, _ in known)
    places = np.unique(np.concatenate([x for x, _ in known]))
    places = places[(places >= first) & (places <= last)]
    values = np.stack([np.interp(places, x, y) for x, y in known])
    mean = values.mean(axis=0)
    if len(known) < 2:
        return Band(places, mean, np.full(len(places), np.nan), np.full(len(places), np.nan))
    half = student_quantile(confidence, len(known) - 1) * values.std(axis=0, ddof=1) / math.sqrt(len(known))
    return Band(places, mean, mean - half, mean + half)


@lru_cache(maxsize=64)
def student_quantile(confidence: float, freedom: int) -> float:
    """The t beyond which, to both sides, 1 - `confidence` of Student's distribution lies; by bisection."""
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > 1 - confidence else (low, middle)
    return (low + high) / 2
