"""Numbers as people read them in a finding's sentence."""

import math


def percent(share: float) -> str:
    """62 %; one decimal below 10 %."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 9.95 or value == round(value) else f"{value:.1f} %"


def number(value: float) -> str:
    """Three significant digits, without an exponent where it fits; with a real minus sign."""
    if math.isnan(value):
        return "unknown"
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        text = f"{value:.3g}" if abs(value) < 999.5 else f"{float(f'{value:.3g}'):.0f}"
    else:
        text = f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"−{text[1:]}" if value < 0 else text


def times(value: float) -> str:
    """4.0 times."""
    return f"{value:.1f} times" if value < 9.95 else f"{value:.0f} times"


def steps(count: float) -> str:
    """20 steps, 1 step."""
    return "1 step" if round(count) == 1 else f"{count:.0f} steps"
