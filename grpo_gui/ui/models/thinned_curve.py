"""The points of a curve for drawing: a pyramid, and the newest points beside it until there are enough to add."""

import numpy as np

from grpo_gui.store.pyramid import SeriesPyramid
from grpo_gui.store.records import Float64Array, Int64Array

_BATCH = 128  # adding one point costs the pyramid nearly as much as adding this many


class ThinnedCurve:
    """Points by rising x; `query` thins them so that no peak is lost."""

    def __init__(self) -> None:
        self._pyramid = SeriesPyramid()
        self._x: Float64Array = np.empty(0)
        self._y: Float64Array = np.empty(0)

    def append(self, x: Float64Array | Int64Array, y: Float64Array) -> None:
        """Append points."""
        self._x, self._y = np.concatenate([self._x, x]), np.concatenate([self._y, y])
        if len(self._x) >= _BATCH:
            self._pyramid.append(self._x, self._y)
            self._x, self._y = np.empty(0), np.empty(0)

    def query(self, low: float, high: float, max_points: int) -> tuple[Float64Array, Float64Array]:
        """The points to draw between `low` and `high`, about `max_points`, and one neighbour on either side."""
        first = max(int(np.searchsorted(self._x, low)) - 1, 0)
        last = int(np.searchsorted(self._x, high, side="right")) + 1
        x, y = self._x[first:last], self._y[first:last]
        if len(self._x) and self._x[0] <= low:
            return x, y
        older_x, older_y = self._pyramid.query(low, high, max_points)
        if len(older_x) and older_x[-1] > high:
            return older_x, older_y
        return np.concatenate([older_x, x]), np.concatenate([older_y, y])
