"""Places token cells in lines, like words in a paragraph.."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """The place of one token: left edge and width in pixels, and its line, from 0."""

    x: float
    line: int
    width: float


@dataclass(frozen=True, slots=True)
class Flow:
    """All cells in order; `starts` holds the first token of every line."""

    cells: tuple[Cell, ...] = ()
    starts: tuple[int, ...] = field(default=())

    @property
    def lines(self) -> int:
        """The number of lines."""
        return len(self.starts)

    def tokens_of(self, line: int) -> range:
        """Give the tokens of a line."""
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.cells)
        return range(self.starts[line], end)

    def at(self, x: float, line: int) -> int | None:
        """Give the token at a place, None beside the cells."""
        if not 0 <= line < self.lines:
            return None
        return next((t for t in self.tokens_of(line) if 0 <= x - self.cells[t].x < self.cells[t].width), None)

    def beside(self, token: int, lines: int) -> int:
        """Give the token above (-1) or below (1) that is nearest to the middle of a token."""
        cell = self.cells[token]
        line = min(max(cell.line + lines, 0), self.lines - 1)
        if line == cell.line:
            return token
        middles = [self.cells[t].x + self.cells[t].width / 2 for t in self.tokens_of(line)]
        middle = cell.x + cell.width / 2
        place = bisect.bisect_left(middles, middle)
        candidates = [p for p in (place - 1, place) if 0 <= p < len(middles)]
        return self.starts[line] + min(candidates, key=lambda p: abs(middles[p] - middle))


def flow(widths: Sequence[float], breaks_after: Sequence[bool], available: float, gap: float = 1.0) -> Flow:
    """Fill lines of `available` pixels with cells of the given widths; a cell wider than a line is cut to it.

    `breaks_after` marks tokens with a line end in them: the next cell starts a new line.
    """
    cells: list[Cell] = []
    starts: list[int] = []
    x, line, is_broken = 0.0, -1, True
    for token, (wanted, is_break) in enumerate(zip(widths, breaks_after, strict=True)):
        width = min(wanted, available)
        if is_broken or x + width > available:
            x, line = 0.0, line + 1
            starts.append(token)
        cells.append(Cell(x, line, width))
        x += width + gap
        is_broken = is_break
    return Flow(tuple(cells), tuple(starts))
