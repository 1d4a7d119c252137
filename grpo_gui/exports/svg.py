"""Curves as SVG text, made without a window: for the report and for a picture of a run's plots."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from grpo_gui.store.pyramid import SeriesPyramid
from grpo_gui.store.records import Float64Array, Int64Array

WIDTH, HEIGHT = 420, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 30, 24
_TICKS = 4
_LARGEST = 1e300  # so that the span of two values is a number
_FLAT = 1e-12  # a span below this, or this share of the value, is rounding

# Every element carries the light colours itself, for viewers without style sheets; this adds those for dark readers.
STYLE = """
.plot text { font-family: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
.plot .ground { fill: #1d2025; stroke: #30353d; }
.plot .grid { stroke: #30353d; }
.plot .curve { stroke: #4a9fe0; }
.plot .dashed { stroke: #e69f00; }
.plot text { fill: #9099a5; }
.plot .title { fill: #e7e9ec; }
}
"""
_GROUND = 'class="ground" fill="#ffffff" stroke="#d9dde3"'
_GRID = 'class="grid" stroke="#d9dde3"'
_CURVES = (
    'class="curve" fill="none" stroke="#0072b2" stroke-width="1.4" stroke-linejoin="round"',
    'class="curve dashed" fill="none" stroke="#b37400" stroke-width="1.4" stroke-dasharray="5 3"',
)
_LABEL = 'font-size="11" fill="#606975" font-family="sans-serif"'
_TITLE = 'class="title" font-size="12" font-weight="600" fill="#1a1d21" font-family="sans-serif"'


@dataclass(frozen=True, slots=True)
class Line:
    """A curve of a plot; the second one is dashed."""

    name: str
    steps: Int64Array | Float64Array
    values: Float64Array


def plot_svg(title: str, lines: Sequence[Line]) -> str:
    """One plot as an `<svg>` element; no peak is lost however many points there are, what is not finite is a gap."""
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(_plain(title))}">{_plot(title, lines)}</svg>'
    )


def sheet_svg(title: str, plots: Sequence[tuple[str, Sequence[Line]]], columns: int = 2) -> str:
    """Several plots on one sheet, as a whole SVG file."""
    gap, head = 12, 36
    rows = -(-len(plots) // columns)
    width, height = gap + columns * (WIDTH + gap), head + rows * (HEIGHT + gap)
    parts = []
    for place, (name, lines) in enumerate(plots):
        x, y = gap + place % columns * (WIDTH + gap), head + place // columns * (HEIGHT + gap)
        parts.append(f'<g transform="translate({x} {y})">{_plot(name, lines)}</g>')
    return (
        f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><style>{STYLE}</style>'
        f'<text {_TITLE} x="{gap}" y="23">{escape(_plain(title))}</text>{"".join(parts)}</svg>\n'
    )


def _plot(title: str, lines: Sequence[Line]) -> str:
    """The inside of a plot."""
    drawn = [_thinned(line) for line in lines]
    parts = [
        f'<rect {_GROUND} x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="6"/>',
        f'<text {_TITLE} x="12" y="19">{escape(_plain(title))}</text>',
    ]
    frame = _frame(drawn)
    if frame is None:
        return "".join([*parts, f'<text {_LABEL} x="12" y="{HEIGHT // 2}">no points</text>'])
    parts += frame.axes()
    for place, (line, (steps, values)) in enumerate(zip(lines, drawn, strict=True)):
        look = _CURVES[min(place, len(_CURVES) - 1)]
        name = escape(_plain(line.name))
        parts.append(f'<path {look} d="{frame.path(steps, values)}"><title>{name}</title></path>')
        parts.append(_legend(_plain(line.name), place, look))
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The ranges of a plot."""

    first: float
    last: float
    low: float
    high: float

    def x(self, step: float) -> float:
        return _LEFT + (step - self.first) / (self.last - self.first) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - _TOP - _BOTTOM)

    def axes(self) -> list[str]:
        parts = []
        for value in round_ticks(self.low, self.high):
            y = self.y(value)
            parts.append(f'<line {_GRID} x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>')
            parts.append(f'<text {_LABEL} x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>')
        for step, anchor in ((self.first, "start"), (self.last, "end")):
            parts.append(
                f'<text {_LABEL} x="{self.x(step):.1f}" y="{HEIGHT - 8}" text-anchor="{anchor}">step {step:.0f}</text>'
            )
        return parts

    def path(self, steps: Float64Array, values: Float64Array) -> str:
        parts, pen_is_up = [], True
        for step, value in zip(steps.tolist(), values.tolist(), strict=True):
            if np.isfinite(value):
                parts.append(f"{'M' if pen_is_up else 'L'}{self.x(step):.1f} {self.y(value):.1f}")
            pen_is_up = not np.isfinite(value)
        return "".join(parts)


def round_ticks(low: float, high: float) -> list[float]:
    """Two to six round values (1, 2 or 5 times a power of ten apart) inside a range."""
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _frame(curves: Sequence[tuple[Float64Array, Float64Array]]) -> _Frame | None:
    """The ranges that hold all curves, None without a finite value."""
    values = np.concatenate([y[np.isfinite(y)] for _, y in curves]) if curves else np.empty(0)
    if not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    if high - low < _FLAT * max(1.0, abs(high)):
        margin = max(0.5, 1e-6 * abs(high))
        low, high = low - margin, high + margin
    first = min(float(steps[0]) for steps, _ in curves if len(steps))
    last = max(*(float(steps[-1]) for steps, _ in curves if len(steps)), first + 1)
    return _Frame(first, last, low, high)


def _thinned(line: Line) -> tuple[Float64Array, Float64Array]:
    steps = np.asarray(line.steps, dtype=np.float64)
    values = np.where(np.isfinite(line.values), np.clip(line.values, -_LARGEST, _LARGEST), np.nan)
    if len(steps) <= 2 * WIDTH:
        return steps, values
    pyramid = SeriesPyramid()
    pyramid.append(steps, np.where(np.isfinite(values), values, np.nan))
    return pyramid.query(float(steps[0]), float(steps[-1]), 2 * WIDTH)


def _legend(name: str, place: int, look: str) -> str:
    if not name:
        return ""
    right = WIDTH - _RIGHT - place * 140
    swatch = f'<path {look} d="M{right - 130} 15h16"/>'
    return f'{swatch}<text {_LABEL} x="{right - 110}" y="19">{escape(name[:18])}</text>'


def _plain(text: str) -> str:
    """Text that XML may hold: control characters and lone surrogates become visible signs."""
    return "".join(sign if sign.isprintable() or sign == " " else "\ufffd" for sign in text)
