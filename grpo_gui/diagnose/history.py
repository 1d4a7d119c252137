"""The numbers of a run so far, a column per series, ready for windows over their newest values."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

_FIRST_CAPACITY = 64


class _Column:
    """A growing series; only finite values are kept."""

    __slots__ = ("length", "steps", "values")

    def __init__(self) -> None:
        self.steps = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self.values = np.empty(_FIRST_CAPACITY, dtype=np.float64)
        self.length = 0

    def append(self, step: int, value: float) -> None:
        if self.length == len(self.values):
            self.steps = np.concatenate((self.steps, np.empty_like(self.steps)))
            self.values = np.concatenate((self.values, np.empty_like(self.values)))
        self.steps[self.length] = step
        self.values[self.length] = value
        self.length += 1


_EMPTY: Float64Array = np.empty(0)
_NO_STEPS: Int64Array = np.empty(0, dtype=np.int64)


class History:
    """Everything the detectors read. Steps rise; a window counts the recorded values of its own series.

    A series that is recorded only every tenth step therefore has windows of 40 values over 400 steps. Values that
    are not finite are left out (padding, mostly); `not_finite` tells of them apart.
    """

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = {}
        self.step = 0  # the step at hand
        self.rows = 0  # steps fed so far
        self.mastered = False  # whether the task counts as solved or nearly so; see `solved`
        self.not_finite: tuple[str, ...] = ()  # names with inf or NaN in the step at hand

    def add(self, name: str, value: float) -> None:
        """Append one finite value of the step at hand to a series."""
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = _Column()
        column.append(self.step, value)

    def append(self, step: int, values: Mapping[str, float]) -> None:
        """Append the values of one step, or further values of the step at hand; steps must not fall."""
        self.step = step
        odd = []
        columns = self._columns
        for name, value in values.items():
            if value - value != 0.0:  # not finite
                odd.append(name)
            elif name in columns:
                columns[name].append(step, value)
            else:
                self.add(name, value)
        self.not_finite = tuple(odd)

    def has(self, name: str) -> bool:
        """Whether a series has a value."""
        return name in self._columns

    def names(self) -> tuple[str, ...]:
        """All series, in the order in which they first came."""
        return tuple(self._columns)

    def names_between(self, prefix: str, suffix: str) -> tuple[str, ...]:
        """What stands between `prefix` and `suffix` in the names of the series, such as the reward sources."""
        return tuple(
            name[len(prefix) : len(name) - len(suffix)]
            for name in self._columns
            if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix)
        )

    def count(self, name: str) -> int:
        """The number of values of a series."""
        column = self._columns.get(name)
        return 0 if column is None else column.length

    def tail(self, name: str, count: int) -> Float64Array:
        """The newest values of a series, at most `count`, oldest first; a view, not to be written to."""
        column = self._columns.get(name)
        return _EMPTY if column is None else column.values[max(0, column.length - count) : column.length]

    def head(self, name: str, count: int) -> Float64Array:
        """The first values of a series, at most `count`."""
        column = self._columns.get(name)
        return _EMPTY if column is None else column.values[: min(count, column.length)]

    def values(self, name: str) -> Float64Array:
        """All values of a series."""
        column = self._columns.get(name)
        return _EMPTY if column is None else column.values[: column.length]

    def steps(self, name: str) -> Int64Array:
        """The steps of the values of a series."""
        column = self._columns.get(name)
        return _NO_STEPS if column is None else column.steps[: column.length]

    def last_step(self, name: str) -> int | None:
        """The step of the newest value, None before the first."""
        column = self._columns.get(name)
        return None if column is None else int(column.steps[column.length - 1])

    def is_fresh(self, name: str) -> bool:
        """Whether the step at hand brought a value of the series."""
        column = self._columns.get(name)
        return column is not None and column.steps[column.length - 1] == self.step

    def rows_before(self, step: int) -> Iterator[tuple[int, dict[str, float]]]:
        """The rows before `step`, to build a history anew after a run went back."""
        places = dict.fromkeys(self._columns, 0)
        merged = [column.steps[: column.length] for column in self._columns.values()]
        for current in np.unique(np.concatenate(merged)) if merged else ():
            if current >= step:
                return
            row: dict[str, float] = {}
            for name, column in self._columns.items():
                place = places[name]
                if place < column.length and column.steps[place] == current:
                    row[name] = float(column.values[place])
                    places[name] = place + 1
            yield int(current), row
