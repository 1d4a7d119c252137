"""Why a model was chosen, and the map of all weights: plain values for a view."""

from dataclasses import dataclass

import numpy as np

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.arms import Beliefs
from grpo_gui.router.state import RouterState
from grpo_gui.router.table import WEIGHT_SCALE

NORMAL_95 = 1.959963984540054
_ALIKE = 1e-6  # probabilities that differ by less are the same


@dataclass(frozen=True, slots=True)
class ModelExplanation:
    """One model in one decision.

    `weight` is the active policy's score before the softmax; `probability` what the softmax makes of it, with a 95 %
    interval that follows from the quality's. `propensity` is the probability to be asked first. `quality` has the
    95 % half width `quality_margin`; `ratings` counts the class's; `reward` is the expected one under the trade-off.
    """

    model: str
    weight: float
    probability: float
    probability_low: float
    probability_high: float
    propensity: float
    quality: float
    quality_margin: float
    ratings: int
    cost: float
    latency_s: float
    reward: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """The class of a query with the reason, and all candidates, the most probable first."""

    query_class: str
    reason: str  # a clause that follows "because"
    policy: str
    ratings: int  # of the class, over the candidates
    models: tuple[ModelExplanation, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class WeightMap:
    """Classes x models: weight, quality with its 95 % half width, and count of ratings (0: only the prior)."""

    classes: tuple[str, ...]
    models: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    qualities: tuple[tuple[float, ...], ...]
    margins: tuple[tuple[float, ...], ...]
    ratings: tuple[tuple[int, ...], ...]


def explain(
    state: RouterState,
    query_class: str,
    reason: str,
    candidates: tuple[str, ...],
    weights: Float64Array,
    beliefs: Beliefs,
    proposal: Float64Array,
) -> Explanation:
    """Put together what is known of the candidates of one query."""
    probabilities = state.table.softmax(weights)
    margins = NORMAL_95 * beliefs.deviation()
    rewards = beliefs.utility(state.trade_off)
    models = tuple(
        ModelExplanation(
            model=model,
            weight=float(weights[i]),
            probability=float(probabilities[i]),
            probability_low=_shifted(state, weights, i, -margins[i]),
            probability_high=_shifted(state, weights, i, margins[i]),
            propensity=float(proposal[i]),
            quality=float(beliefs.quality[i]),
            quality_margin=float(margins[i]),
            ratings=int(beliefs.ratings[i]),
            cost=float(beliefs.cost[i]),
            latency_s=float(beliefs.latency_s[i]),
            reward=float(rewards[i]),
        )
        for i, model in enumerate(candidates)
    )
    models = tuple(sorted(models, key=lambda model: -model.probability))
    ratings = int(beliefs.ratings.sum())
    sentence = _sentence(query_class, reason, ratings, models, rated=ratings > 0 or _are_rated(state, candidates))
    return Explanation(query_class, reason, state.policy_name, ratings, models, sentence)


def _are_rated(state: RouterState, models: tuple[str, ...]) -> bool:
    """True when one of the models has a rating in any class."""
    indices = state.arms.places(models)
    return any(state.arms.beliefs(name, indices).ratings.any() for name in state.arms.classes)


def weight_map(state: RouterState, models: tuple[str, ...]) -> WeightMap:
    """The table's weights and the beliefs, for every class that has ratings."""
    classes = tuple(sorted(state.arms.classes))
    if not models:
        return WeightMap(classes, models, *(((),) * len(classes),) * 4)
    indices = state.arms.places(models)
    beliefs = [state.arms.beliefs(name, indices) for name in classes]
    return WeightMap(
        classes,
        models,
        tuple(tuple(state.table.row(name, indices).tolist()) for name in classes),
        tuple(tuple(belief.quality.tolist()) for belief in beliefs),
        tuple(tuple((NORMAL_95 * belief.deviation()).tolist()) for belief in beliefs),
        tuple(tuple(belief.ratings.tolist()) for belief in beliefs),
    )


def _shifted(state: RouterState, weights: Float64Array, index: int, quality: float) -> float:
    """The model's probability if its quality were better by `quality`."""
    shifted = weights.copy()
    shifted[index] = np.clip(shifted[index] + WEIGHT_SCALE * quality, -state.config.logit_cap, state.config.logit_cap)
    return float(state.table.softmax(shifted)[index])


def _sentence(query_class: str, reason: str, ratings: int, models: tuple[ModelExplanation, ...], *, rated: bool) -> str:
    first = models[0]
    start = f"The query is {query_class} because {reason}."
    if not rated:
        are_alike = first.probability - models[-1].probability < _ALIKE
        rest = "every model has the same chance" if are_alike else "what the policy began with decides"
        return f"{start} No answer is rated yet, so {rest}."
    if not ratings:
        return f"{start} No answer of this class is rated yet, so the models' ratings in other classes decide."
    best = (
        f"{first.model} leads with quality {first.quality:.2f} ± {first.quality_margin:.2f} "
        f"from {first.ratings} {'rating' if first.ratings == 1 else 'ratings'}"
    )
    if len(models) == 1:
        return f"{start} {best}; there is no other model."
    second = models[1]
    return f"{start} {best}; next is {second.model} with {second.quality:.2f} ± {second.quality_margin:.2f}."
