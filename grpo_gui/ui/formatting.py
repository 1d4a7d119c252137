"""Numbers as the window writes them: a real minus, thin spaces between thousands, never a bare NaN."""

import math

MINUS = "\u2212"
THIN_SPACE = "\u2009"
NOTHING = "\u2013"


def number(value: float | None, digits: int = 2, *, sign: bool = False) -> str:
    """Return `value` with fixed `digits`; None and NaN become an en dash. `sign` also writes a plus."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "\u221e" if value > 0 else f"{MINUS}\u221e"
    text = f"{abs(value):,.{digits}f}".replace(",", THIN_SPACE)
    if value < 0 and float(f"{value:.{digits}f}") != 0:
        return MINUS + text
    return f"+{text}" if sign else text


def significant(value: float | None, digits: int = 3) -> str:
    """Return `value` with `digits` significant ones, in powers of ten where plain digits would be long."""
    if value is None or not math.isfinite(value) or value == 0:
        return "0" if value == 0 else number(value)
    if 1e-3 <= abs(value) < 1e6:
        places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return number(value, places)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}".replace("-", MINUS)


def count(value: int) -> str:
    """Return a whole number with thin spaces between thousands."""
    return f"{value:,}".replace(",", THIN_SPACE).replace("-", MINUS)


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share of 1 as percent."""
    text = number(None if share is None else 100 * share, digits)
    return text if text == NOTHING else f"{text} %"


def seconds_text(seconds: float) -> str:
    """Return a short time: `40 ms`, `0.4 s`, `12.5 s`."""
    return f"{round(1000 * seconds)} ms" if seconds < 0.1 else f"{number(seconds, 1)} s"


def duration(seconds: float) -> str:
    """Return a time span in the two largest units: `14 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{count(whole // 3600)} h {whole % 3600 // 60} min"
