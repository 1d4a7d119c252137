"""Ranges and ticks of an axis: few, round, and steady while a run grows."""

import math
from collections.abc import Sequence

Range = tuple[float, float]
Ticks = list[tuple[float, str]]

MINUS = "\N{MINUS SIGN}"
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def round_step(span: float, max_ticks: int) -> float:
    """The smallest round step (1, 2, 2.5 or 5 times a power of ten) that cuts `span` into at most `max_ticks` parts."""
    rough = span / max_ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in _ROUND_STEPS if power * factor >= rough * (1 - 1e-9))


def format_tick(value: float, step: float) -> str:
    """A tick's text with the digits that `step` needs; thousands as k, millions as M, minus as U+2212."""
    if value == 0:
        return "0" if step >= 1 else f"{0:.{_decimals(step)}f}"
    size = abs(value)
    if size >= 1e6 or step >= 1e6:
        text = f"{size / 1e6:.{_decimals(step / 1e6)}f}M"
    elif size >= 1e4 or step >= 1e3:
        text = f"{size / 1e3:.{_decimals(step / 1e3)}f}k"
    elif size < 1e-3:
        text = f"{size:.0e}".replace("e-0", "e-").replace("e-", f"e{MINUS}")
    else:
        text = f"{size:.{_decimals(step)}f}"
    return (MINUS if value < 0 else "") + text


def _decimals(step: float) -> int:
    """Digits after the point so that multiples of `step` differ (0.25 needs 2, 5 needs 0)."""
    return next((n for n in range(10) if abs(step * 10**n - round(step * 10**n)) < 1e-6 * 10**n * step), 10)


def linear_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """At most `max_ticks` + 1 round ticks inside [low, high]."""
    if not low < high:
        return []
    step = round_step(high - low, max_ticks)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [(i * step, format_tick(i * step, step)) for i in range(first, last + 1)]


def log_ticks(low: float, high: float, max_ticks: int) -> Ticks:
    """Ticks at powers of ten for an axis that shows log10 of the values; 1-2-5 when it spans less than 1.5 decades."""
    if not low < high:
        return []
    if high - low < 1.5:
        places = [e + math.log10(m) for e in range(math.floor(low), math.ceil(high) + 1) for m in (1, 2, 5)]
        return [(p, format_power(p)) for p in places if low <= p <= high][: max_ticks + 1]
    stride = max(1, math.ceil((high - low) / max_ticks))
    first = math.ceil(low / stride - 1e-9) * stride
    return [(float(e), format_power(float(e))) for e in range(first, math.floor(high + 1e-9) + 1, stride)]


def format_power(log10: float) -> str:
    """The text of a value given by its log10: .01, 0.2, 10, 1e-5."""
    value = 10.0**log10
    if 1e-3 * 0.99 < value < 1e4:
        return f"{value:.4g}"
    return f"{value:.0e}".replace("e-0", f"e{MINUS}").replace("e+0", "e").replace("e-", f"e{MINUS}").replace("e+", "e")


def value_range(low: float, high: float, *, include: Sequence[float] = (), max_ticks: int = 4) -> Range:
    """A y range for values in [low, high]: its ends lie on half ticks, so that it moves seldom, padded for the labels.

    Args:
        low: smallest shown value.
        high: largest shown value.
        include: values that must be visible too (0, a threshold).
        max_ticks: the ticks that the axis will carry.
    """
    low, high = min([low, *include]), max([high, *include])
    if high - low < 1e-12 * max(1.0, abs(high)):
        margin = 0.5 * abs(high) or 0.5
        low, high = low - margin, high + margin
    half = round_step(high - low, max_ticks) / 2
    low, high = math.floor(low / half + 1e-6) * half, math.ceil(high / half - 1e-6) * half
    pad = 0.06 * (high - low)
    return low - pad, high + pad


def follow_range(end: float) -> Range:
    """The x range while following a run that has come to `end`: it grows in strides of 5 to 20 %, not every step."""
    if end <= 0:
        return 0.0, 10.0
    stride = max(round_step(end, 16), 1e-9)
    return 0.0, max(math.ceil(end * 1.02 / stride) * stride, 10.0 if end >= 1 else end)
