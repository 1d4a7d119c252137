"""What the router says in words: features of a query, a cell of the weight map, the candidate, drift."""

from grpo_gui.router.context import RoutingContext
from grpo_gui.router.drift import DriftAlarm, DriftLevel
from grpo_gui.router.explanation import ModelExplanation, WeightMap
from grpo_gui.ui.formatting import count, number, percent, seconds_text

NOT_RATED = "Nothing is rated yet; the weights and the regret appear with your first ratings."


def features(context: RoutingContext) -> str:
    """What the class follows from."""
    words = len(context.query.split())
    code = "code" if context.has_code else "no code"
    maths = "mathematics" if context.has_math else "no mathematics"
    return f"{_many(context.query_length, 'character')}, {_many(words, 'word')}, {code}, {maths}"


def why(model: ModelExplanation, query_class: str) -> str:
    """Why a model has its probability."""
    if model.ratings:
        known = (
            f"{_ratings(model.ratings)} in {query_class} {_say(model.ratings)} quality {number(model.quality)} "
            f"± {number(model.quality_margin)}"
        )
    else:
        known = (
            f"It has no rating in {query_class}; from its other classes and the other models quality "
            f"{number(model.quality)} ± {number(model.quality_margin)} is expected"
        )
    return (
        f"{known}. Its score is {number(model.weight, sign=True)}, which makes {percent(model.probability, 0)} "
        f"(95 %: {percent(model.probability_low, 0)} to {percent(model.probability_high, 0)}); "
        f"it is asked first with probability {number(model.propensity)}. "
        f"Expected reward {number(model.reward)}: quality less {number(model.cost)} of cost and "
        f"{seconds_text(model.latency_s)}, as weighed."
    )


def cell(weights: WeightMap, row: int, column: int) -> str:
    """What a cell of the weight map means."""
    name, model = weights.classes[row], weights.models[column]
    ratings, quality = weights.ratings[row][column], number(weights.qualities[row][column])
    if not ratings:
        return (
            f"{model} was never rated in {name}. Until it is, quality {quality} is assumed: its level in the other "
            "classes and how hard this class is."
        )
    margin, weight = number(weights.margins[row][column]), weights.weights[row][column]
    place = 1 + sum(other > weight for other in weights.weights[row])
    rank = "the first choice" if place == 1 else f"choice {place} of {len(weights.models)}"
    return (
        f"{model} is {rank} for {name}: weight {number(weight, sign=True)}. {_ratings(ratings)} {_say(ratings)} "
        f"quality {quality} ± {margin} (95 %)."
    )


def drift(level: DriftLevel | None, alarms: tuple[tuple[int, DriftAlarm], ...]) -> tuple[str, str, str]:
    """(kind good or warn, a word, the details) of the drift alarm."""
    near = "no rating yet" if level is None else f"alarm {number(level.value, 1)} of {number(level.alarm, 1)}"
    if not alarms:
        return "good", "No drift", near
    decision, alarm = alarms[-1]
    where = "over all classes" if alarm.query_class is None else f"in {alarm.query_class}"
    change = "better" if alarm.better else "worse"
    return (
        "warn",
        "Drift",
        f"{alarm.model} became {change} {where} at decision {count(decision)}; its older ratings count little now. "
        f"Since then {near}.",
    )


def _ratings(ratings: int) -> str:
    return f"Its {_many(ratings, 'rating')}"


def _say(ratings: int) -> str:
    return "says" if ratings == 1 else "say"


def _many(value: int, thing: str) -> str:
    return f"{count(value)} {thing}" if value == 1 else f"{count(value)} {thing}s"
