"""Debiased exponential smoothing of a whole series, block by block and point by point."""

import math

import numpy as np

from grpo_gui.store.records import Float64Array

_MAX_SCALE = 1e100  # within a block w**-k stays below this, far from overflow


class Smoother:
    """An exponential moving average that divides out its empty start and goes on where it stopped.

    With weight w, `m_t = w m_{t-1} + (1-w) x_t` and the result is `m_t / (1 - w**t)`, t counting finite
    values only (Adam, arXiv 1412.6980, section 3). A value that is not finite leaves the average as it is
    and gives NaN at its own place.

    Args:
        weight: 0 (no smoothing) up to, but not including, 1.
    """

    def __init__(self, weight: float) -> None:
        if not 0.0 <= weight < 1.0:
            raise ValueError(f"a smoothing weight lies in [0, 1), not at {weight}")
        self.weight = weight
        self._mean = 0.0  # biased: not yet divided by 1 - w**count
        self._count = 0

    def extend(self, values: Float64Array) -> Float64Array:
        """Smooth the next values of the series; returns an array of the same length."""
        finite = np.isfinite(values)
        smoothed = np.full(len(values), np.nan)
        smoothed[finite] = self._extend_finite(values[finite])
        return smoothed

    def _extend_finite(self, values: Float64Array) -> Float64Array:
        if self.weight == 0.0 or not len(values):
            return values
        block = max(1, int(math.log(_MAX_SCALE) / -math.log(self.weight)))
        return np.concatenate([self._block(values[i : i + block]) for i in range(0, len(values), block)])

    def _block(self, values: Float64Array) -> Float64Array:
        w = self.weight
        exponents = np.arange(1, len(values) + 1, dtype=np.float64)
        powers = w**exponents
        biased = powers * (self._mean + (1.0 - w) * np.cumsum(values / powers))
        self._mean = float(biased[-1])
        debiased: Float64Array = biased / -np.expm1((self._count + exponents) * math.log(w))
        self._count += len(values)
        return debiased


def smooth(values: Float64Array, weight: float) -> Float64Array:
    """Smooth a whole series at once; see `Smoother`."""
    return Smoother(weight).extend(values)
