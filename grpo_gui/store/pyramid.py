"""A series of millions of points, thinned for drawing without losing a peak: a pyramid of minima and maxima."""

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from grpo_gui.store.records import Float64Array, Int64Array

FACTOR = 8
_CHUNK = FACTOR**6  # points per chunk: appending never moves more than this
_LEVELS = 6

Float32Array = npt.NDArray[np.float32]
Int32Array = npt.NDArray[np.int32]
Scalar = TypeVar("Scalar", bound=np.generic)


class SeriesPyramid:
    """The points of one curve by rising x.

    Values are kept as float32; one that is not finite counts as NaN, which draws a gap where points are
    drawn singly and is skipped in a minimum or maximum.
    """

    def __init__(self) -> None:
        self._chunks: list[_Chunk] = []

    def __len__(self) -> int:
        return sum(chunk.size for chunk in self._chunks)

    def append(self, x: Float64Array | Int64Array, values: Float64Array) -> None:
        """Append points; `x` rises and does not begin before the last one.

        Raises:
            ValueError: the lengths differ, or x falls.
        """
        x = np.asarray(x, dtype=np.float64)
        if len(x) != len(values):
            raise ValueError(f"{len(x)} places for {len(values)} values")
        if not len(x):
            return
        if np.any(x[1:] < x[:-1]) or (self._chunks and x[0] < self._chunks[-1].last_x):
            raise ValueError("x must not fall")
        done = 0
        while done < len(x):
            if not self._chunks or self._chunks[-1].size == _CHUNK:
                self._chunks.append(_Chunk())
            done += self._chunks[-1].append(x[done:], values[done:])

    def query(self, x0: float, x1: float, max_points: int) -> tuple[Float64Array, Float64Array]:
        """The points to draw between x0 and x1: all of them, or their minima and maxima when they are too many.

        The least and the greatest value of the range are always among them, and so is one neighbour on either
        side. There may be some more than `max_points`: the blocks at the ends of the range are divided further.
        """
        parts = [(chunk, *chunk.span(x0, x1)) for chunk in self._chunks if chunk.first_x <= x1 and chunk.last_x >= x0]
        parts = [part for part in parts if part[1] < part[2]]
        level, group = _resolution(sum(high - low for _, low, high in parts), max_points)
        picked = [(chunk, chunk.pick(low, high, level, group)) for chunk, low, high in parts]
        xs = [chunk.x[places] for chunk, places in picked]
        ys = [chunk.values[places].astype(np.float64) for chunk, places in picked]
        before, after = self._neighbours(x0, x1)
        return np.concatenate([before[0], *xs, after[0]]), np.concatenate([before[1], *ys, after[1]])

    def _neighbours(self, x0: float, x1: float) -> tuple["_Points", "_Points"]:
        """The last point before x0 and the first one after x1, each as arrays of length 1, or 0 when there is none."""
        before = after = _NONE
        for chunk in self._chunks:
            if chunk.first_x < x0:
                before = chunk.point(int(np.searchsorted(chunk.x[: chunk.size], x0)) - 1)
            if chunk.last_x > x1:
                after = chunk.point(int(np.searchsorted(chunk.x[: chunk.size], x1, side="right")))
                break
        return before, after


_Points = tuple[Float64Array, Float64Array]
_NONE: _Points = (np.empty(0), np.empty(0))


def _resolution(count: int, max_points: int) -> tuple[int, int]:
    """The level, and how many of its blocks go together, so that `count` points become about `max_points`.

    Level 0 are the points themselves. The level is one step finer than it need be: the last factor between 1
    and 8 is bridged by putting blocks together.
    """
    if count <= max_points:
        return 0, 1
    level = 1
    while level < _LEVELS and 2 * -(-count // FACTOR ** (level + 1)) > max_points:
        level += 1
    return level, max(1, -(-2 * -(-count // FACTOR**level) // max(max_points, 2)))


@dataclass(slots=True)
class _Chunk:
    """At most 8^6 points; per level the places of each block's minimum and maximum."""

    size: int = 0
    x: Float64Array = field(default_factory=lambda: np.empty(FACTOR, dtype=np.float64))
    values: Float32Array = field(default_factory=lambda: np.empty(FACTOR, dtype=np.float32))
    lows: list[Int32Array] = field(default_factory=lambda: [np.empty(1, dtype=np.int32) for _ in range(_LEVELS)])
    highs: list[Int32Array] = field(default_factory=lambda: [np.empty(1, dtype=np.int32) for _ in range(_LEVELS)])

    @property
    def first_x(self) -> float:
        """The x of the first point."""
        return float(self.x[0])

    @property
    def last_x(self) -> float:
        """The x of the last point."""
        return float(self.x[self.size - 1])

    def point(self, place: int) -> _Points:
        """One point as arrays of length 1."""
        return self.x[place : place + 1], self.values[place : place + 1].astype(np.float64)

    def span(self, x0: float, x1: float) -> tuple[int, int]:
        """The places [low, high) whose x lies in [x0, x1]."""
        x = self.x[: self.size]
        return int(np.searchsorted(x, x0)), int(np.searchsorted(x, x1, side="right"))

    def append(self, x: Float64Array, values: Float64Array) -> int:
        """Append as many points as fit; return how many."""
        count = min(len(x), _CHUNK - self.size)
        first, self.size = self.size, self.size + count
        self._reserve(self.size)
        self.x[first : self.size] = x[:count]
        with np.errstate(over="ignore"):  # beyond float32 becomes infinite, and so NaN
            single = values[:count].astype(np.float32)
        self.values[first : self.size] = np.where(np.isfinite(single), single, np.float32(np.nan))
        self._rebuild(first)
        return count

    def pick(self, low: int, high: int, level: int, group: int = 1) -> Int64Array:
        """The places to draw of [low, high), rising: whole blocks of `level`, finer ones at both ends.

        `group` blocks at a time give one minimum and one maximum.
        """
        if level == 0:
            return np.arange(low, high)
        block = FACTOR**level
        first, last = -(-low // block), high // block
        if first >= last:
            return self.pick(low, high, level - 1)
        lows, highs = self.lows[level - 1][first:last], self.highs[level - 1][first:last]
        if group > 1:
            lows, highs = self._extremes(lows, group, np.inf), self._extremes(highs, group, -np.inf)
        pairs = np.stack((lows, highs), axis=1)
        pairs.sort(axis=1)
        inside = pairs.ravel().astype(np.int64)
        return np.concatenate(
            (self.pick(low, first * block, level - 1), inside, self.pick(last * block, high, level - 1))
        )

    def _reserve(self, size: int) -> None:
        if size <= len(self.x):
            return
        room = min(max(2 * len(self.x), size), _CHUNK)
        self.x = _grown(self.x, room)
        self.values = _grown(self.values, room)
        for level in range(_LEVELS):
            blocks = -(-room // FACTOR ** (level + 1))
            self.lows[level] = _grown(self.lows[level], blocks)
            self.highs[level] = _grown(self.highs[level], blocks)

    def _rebuild(self, first: int) -> None:
        """Renew the blocks from the one that holds place `first` on."""
        size = self.size
        for level in range(_LEVELS):
            start = first // FACTOR ** (level + 1)
            stop = -(-size // FACTOR ** (level + 1))
            if level == 0:
                below_low = below_high = np.arange(start * FACTOR, size, dtype=np.int32)
            else:
                below = -(-size // FACTOR**level)
                below_low = self.lows[level - 1][start * FACTOR : below]
                below_high = self.highs[level - 1][start * FACTOR : below]
            self.lows[level][start:stop] = self._extremes(below_low, FACTOR, np.inf)
            self.highs[level][start:stop] = self._extremes(below_high, FACTOR, -np.inf)

    def _extremes(self, places: Int32Array, group: int, worst: float) -> Int32Array:
        """Per `group` candidate places the one with the least value (`worst` inf) or the greatest (-inf)."""
        blocks = -(-len(places) // group)
        padded = np.full(blocks * group, places[-1], dtype=np.int32)
        padded[: len(places)] = places
        values = self.values[padded]
        values[np.isnan(values)] = worst
        table = values.reshape(blocks, group)
        best = table.argmin(axis=1) if worst > 0 else table.argmax(axis=1)
        chosen: Int32Array = padded[np.arange(0, len(padded), group) + best]
        return chosen


def _grown(array: npt.NDArray[Scalar], size: int) -> npt.NDArray[Scalar]:
    grown = np.empty(size, dtype=array.dtype)
    grown[: len(array)] = array
    return grown
