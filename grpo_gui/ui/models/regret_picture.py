"""How the regret curves are drawn: a y range that shows the useful ones, and labels that do not overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.shadows import THIS_POLICY, RegretCurves
from grpo_gui.ui.formatting import number

RANDOM = "random"
_ROOM = 1.12  # of the highest useful curve
_SMALL = 20  # below this, regret has a digit after the point


@dataclass(frozen=True, slots=True)
class CurveStyle:
    """Name on the label, colour token and dash of a curve."""

    label: str
    color: str
    dash: str


STYLES: Mapping[str, CurveStyle] = {
    RANDOM: CurveStyle("random", "text3", "dot"),
    "best_single": CurveStyle("best single", "ink", "dash"),
    "epsilon_greedy": CurveStyle("epsilon-greedy", "purple", "dash"),
    "ucb1": CurveStyle("UCB1", "orange", "solid"),
    "thompson": CurveStyle("Thompson", "green", "solid"),
    THIS_POLICY: CurveStyle("this policy", "blue", "solid"),
}
"""In the order of drawing: this policy lies on top."""


@dataclass(frozen=True, slots=True)
class EndLabel:
    """A name with the last value of its curve at a height of the plot (0 bottom, 1 top)."""

    name: str
    text: str
    place: float


def useful_top(curves: Mapping[str, Float64Array]) -> float:
    """The highest regret that the plot shows: random may leave it, unless it is among the others."""
    others = [float(curve.max()) for name, curve in curves.items() if name != RANDOM and len(curve)]
    return max([1.0, *(_ROOM * other for other in others)])


def end_labels(curves: RegretCurves, top: float, least_distance: float) -> tuple[EndLabel, ...]:
    """The labels, the lowest first, moved apart to `least_distance` of the height; random outside has none here."""
    ends = [
        (min(max(float(curve[-1]) / top, 0.0), 1.0), name)
        for name, curve in curves.curves.items()
        if len(curve) and not leaves(curve, top)
    ]
    ends.sort()
    places = _apart([place for place, _ in ends], least_distance)
    return tuple(
        EndLabel(name, f"{STYLES[name].label} {regret_text(float(curves.curves[name][-1]))}", place)
        for place, (_, name) in zip(places, ends, strict=True)
    )


def leaves(curve: Float64Array, top: float) -> bool:
    """True when a curve ends above the plot."""
    return bool(len(curve)) and float(curve[-1]) > top


def regret_text(value: float) -> str:
    """A regret as written."""
    return number(value, 1 if abs(value) < _SMALL else 0)


def summary(curves: RegretCurves) -> str:
    """The plot in words."""
    if not curves.decisions:
        return "Regret: nothing is rated yet"
    ends = ", ".join(
        f"{STYLES[name].label} {regret_text(float(curves.curves[name][-1]))}" for name in reversed(tuple(STYLES))
    )
    return f"Regret after {len(curves.decisions)} rated decisions: {ends}"


def _apart(places: Sequence[float], least: float) -> list[float]:
    """Places in rising order with at least this distance, half of it from the ends as far as there is room."""
    result: list[float] = []
    for place in places:
        result.append(max(place, result[-1] + least if result else least / 2))
    ceiling = 1.0 - least / 2
    for index in range(len(result) - 1, -1, -1):
        result[index] = min(result[index], ceiling)
        ceiling = result[index] - least
    return result
