"""An array that grows at its end without copying everything each time."""

from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", np.int64, np.float64)


class GrowingArray(Generic[Scalar]):
    """Rows of equal shape, appended one or many at a time; `view` is the filled part, without a copy.

    Args:
        dtype: the numpy type of the entries.
        row_shape: shape of one row; () for plain numbers.
    """

    def __init__(self, dtype: type[Scalar], row_shape: tuple[int, ...] = ()) -> None:
        self._data: npt.NDArray[Scalar] = np.empty((64, *row_shape), dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def view(self) -> npt.NDArray[Scalar]:
        """The rows so far; do not keep it across an `extend`, it may move."""
        return self._data[: self._size]

    def extend(self, rows: npt.ArrayLike) -> None:
        """Append rows."""
        added = np.asarray(rows, dtype=self._data.dtype)
        needed = self._size + len(added)
        if needed > len(self._data):
            grown = np.empty((max(needed, 2 * len(self._data)), *self._data.shape[1:]), dtype=self._data.dtype)
            grown[: self._size] = self.view
            self._data = grown
        self._data[self._size : needed] = added
        self._size = needed
