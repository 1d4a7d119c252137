"""The regret curves of a live router: what it missed so far, beside baselines that would have answered in its place.

Nobody knows what a model that was not asked would have earned. Its rating is taken where there is one, else what is
believed of it in the class of the query: the same for the router and for every baseline, so that the curves compare.
Believed rewards have no noise, which flatters the baselines: they learn from it what the router had to find out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.baselines import BASELINES, make_baseline
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.sampler import Int64Array
from grpo_gui.router.state import RouterState

THIS_POLICY = "this policy"


@dataclass(frozen=True, slots=True)
class RegretCurves:
    """Cumulative regret after each rated decision: `decisions` are their numbers, `curves` one array a policy."""

    decisions: tuple[int, ...]
    curves: Mapping[str, Float64Array]


def regret_curves(policy: RouterPolicy, *, seed: int = 0) -> RegretCurves:
    """Curves of this policy (the model drawn first) and of the baselines, under the trade-off of now."""
    with policy.lock:
        numbers = tuple(dict.fromkeys(group.decision for group in policy.state.groups))
        if not numbers:
            return RegretCurves((), {name: np.zeros(0) for name in (THIS_POLICY, *BASELINES)})
        rewards_NM, classes, first = _table(policy.state)
    best = _best_of_class(rewards_NM, classes)
    rows = np.arange(len(numbers))
    curves = {THIS_POLICY: np.cumsum(best - rewards_NM[rows, first])}
    for name in BASELINES:
        baseline = make_baseline(name, rewards_NM, int(classes.max()) + 1, seed)
        earned = np.zeros(len(numbers))
        for row, query_class in enumerate(classes.tolist()):
            model = baseline.choose(query_class)
            earned[row] = rewards_NM[row, model]
            baseline.learn(query_class, model, float(earned[row]))
        curves[name] = np.cumsum(best - earned)
    return RegretCurves(numbers, curves)


def _table(state: RouterState) -> tuple[Float64Array, Int64Array, Int64Array]:
    """Rewards (decisions, models), and per decision its class and the model drawn first, as numbers."""
    models = state.arms.models
    columns = {model: column for column, model in enumerate(models)}
    rated: dict[int, dict[int, float]] = {}
    for group in state.groups:
        known = rated.setdefault(group.decision, {})
        known.update((columns[rating.model], state.reward(rating)) for rating in group.ratings)
    names = sorted({state.decisions[number].query_class for number in rated})
    expected = {name: state.beliefs(name, models).utility(state.trade_off) for name in names}
    rewards_NM = np.array([expected[state.decisions[number].query_class] for number in rated]).reshape(-1, len(models))
    for row, known in enumerate(rated.values()):
        rewards_NM[row, list(known)] = list(known.values())
    classes = np.array([names.index(state.decisions[number].query_class) for number in rated], dtype=np.int64)
    first = np.array([columns[state.decisions[number].asked[0]] for number in rated], dtype=np.int64)
    return rewards_NM, classes, first


def _best_of_class(rewards_NM: Float64Array, classes: Int64Array) -> Float64Array:
    best = np.zeros(len(rewards_NM))
    for query_class in np.unique(classes):
        rows = classes == query_class
        best[rows] = rewards_NM[rows, rewards_NM[rows].mean(0).argmax()]
    return best
