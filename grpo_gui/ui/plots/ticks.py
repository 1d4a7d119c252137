"""Ranges and ticks of an axis: few, round, and steady while a run grows."""

import math
from collections.abc import Sequence

from grpo_gui.ui.formatting import MINUS

Range = tuple[float, float]
Ticks = list[tuple[float, str]]

_ROUND_STEPS = (1.0, 2.0, 5.0, 10.0)
_LONGEST_TEXT = 5  # characters that the axis has room for
_FEWEST_TICKS = 2  # one alone does not tell the scale
_FLAT = 1e-12  # a span below this, or this share of the value, is rounding


def round_step(span: float, max_ticks: int) -> float:
    """The smallest round step (1, 2 or 5 times a power of ten) that cuts `span` into at most `max_ticks` parts."""
    rough = span / max_ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in _ROUND_STEPS if power * factor >= rough * (1 - 1e-9))


def linear_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """About `max_ticks` round ticks inside [low, high], at least two."""
    if not low < high:
        return []
    places: list[float] = []
    while len(places) < _FEWEST_TICKS:
        step = round_step(high - low, max_ticks)
        places = [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        max_ticks += 1
    largest = max(abs(place) for place in places)
    texts = [format_tick(place, step, largest) for place in places]
    if max(map(len, texts)) > _LONGEST_TEXT:
        texts = [text.replace("0.", ".", 1) if text.lstrip(MINUS).startswith("0.") else text for text in texts]
    return list(zip(places, texts, strict=True))


def format_tick(value: float, step: float, largest: float) -> str:
    """A tick's text with the digits that `step` needs; all in thousands (k) or millions (M) where `largest` is long."""
    if largest >= 1e6:
        unit, suffix = 1e6, "M"
    elif largest >= 1e4:
        unit, suffix = 1e3, "k"
    elif largest < 1e-2:
        exponent = math.floor(math.log10(step) + 1e-9)  # one for the whole axis: 5e−4, 10e−4, 15e−4
        return f"{round(value / 10.0**exponent)}e{exponent}".replace("-", MINUS) if round(value / step) else "0"
    else:
        unit, suffix = 1.0, ""
    text = f"{abs(value) / unit:.{_decimals(step / unit)}f}" + (suffix if value else "")
    return (MINUS if value < 0 else "") + text


def _decimals(step: float) -> int:
    """Digits after the point so that multiples of `step` differ (0.25 needs 2, 5 needs 0)."""
    return next((n for n in range(10) if abs(step * 10**n - round(step * 10**n)) < 1e-6 * step * 10**n), 10)


def log_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """Ticks for an axis of log10 values: powers of ten, with 2 and 5 when they would be fewer than two."""
    if not low < high:
        return []
    powers: list[float] = []
    stride = max(1, math.ceil((high - low) / max_ticks))
    while len(powers) < _FEWEST_TICKS and stride:
        first = math.ceil(low / stride - 1e-9) * stride
        powers = [float(e) for e in range(first, math.floor(high + 1e-9) + 1, stride)]
        stride -= 1
    if len(powers) < _FEWEST_TICKS:
        around = range(math.floor(low), math.ceil(high) + 1)
        powers = [e + math.log10(m) for e in around for m in (1, 2, 5) if low <= e + math.log10(m) <= high]
    return [(power, format_power(power)) for power in powers]


def format_power(log10: float) -> str:
    """The text of a value given by its log10: 0.01, 0.2, 10, 1e−5."""
    value = 10.0**log10
    if 1e-3 * 0.99 < value < 1e4:
        return f"{value:.4g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", MINUS)


def value_range(low: float, high: float, *, include: Sequence[float] = (), max_ticks: int = 4) -> Range:
    """A y range for values in [low, high]: its ends lie on half ticks, so that it moves seldom.

    Args:
        low: smallest shown value.
        high: largest shown value.
        include: values that must be visible too (0, a threshold).
        max_ticks: the ticks that the axis will carry.
    """
    low, high = min([low, *include]), max([high, *include])
    if high - low < _FLAT * max(1.0, abs(high)):
        low, high = (low - abs(low) / 2, high + abs(high) / 2) if abs(high) > _FLAT else (0.0, 1.0)
    half = round_step(high - low, max_ticks) / 2
    return math.floor(low / half + 1e-6) * half, math.ceil(high / half - 1e-6) * half


def padded(shown: Range, pad: float) -> Range:
    """Add a share of the span at either end: a tick label that would leave the axis vanishes."""
    margin = pad * (shown[1] - shown[0])
    return shown[0] - margin, shown[1] + margin


def follow_range(end: float) -> Range:
    """The x range while following a run that has come to `end`: it grows in strides of 5 to 20 %, not every step."""
    if end <= 0:
        return 0.0, 10.0
    stride = round_step(end, 16)
    return 0.0, max(math.ceil(end * 1.02 / stride) * stride, 10.0 if end >= 1 else end)
