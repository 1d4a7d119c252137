"""Distribution functions that the diagnosis and the ratings share; plain Python."""

import math


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function (Numerical Recipes, section 6.4)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(1 - x, b, a)
    return front * _beta_fraction(x, a, b) / a


def _beta_fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1) or tiny)
    result = d
    for m in range(1, 300):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + numerator * d or tiny)
            c = 1.0 + numerator / c or tiny
            result *= c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return result


def beta_quantile(share: float, a: float, b: float) -> float:
    """The value below which a Beta(a, b) variable lies with probability `share`, to 1e-12."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if incomplete_beta(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def upper_gamma(a: float, x: float) -> float:
    """The regularised upper incomplete gamma function by its series; for x up to some hundreds."""
    if x <= 0:
        return 1.0
    term = total = 1.0 / a
    n = a
    while term > total * 1e-14:
        n += 1
        term *= x / n
        total += term
    return max(0.0, 1.0 - total * math.exp(-x + a * math.log(x) - math.lgamma(a)))
