"""The live regret curves."""

import random

import pytest

from grpo_gui.router.baselines import BASELINES
from grpo_gui.router.context import context_from_text
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.rewards import Outcome, TradeOff
from grpo_gui.router.shadows import THIS_POLICY, regret_curves

QUALITY = {"hello": {"a": 0.9, "b": 0.1}, "solve it": {"a": 0.2, "b": 0.8}}


def live(steps):
    policy, generator = RouterPolicy(), random.Random(7)  # not the seed of the baselines
    for _ in range(steps):
        query = generator.choice(sorted(QUALITY))
        made = policy.propose(context_from_text(query), ["a", "b"], 1)
        policy.rate(made.decision, {model: Outcome(QUALITY[query][model], float(model == "b")) for model in made.asked})
    return policy


def test_that_without_ratings_the_curves_are_empty():
    curves = regret_curves(RouterPolicy())
    assert curves.decisions == ()
    assert set(curves.curves) == {THIS_POLICY, *BASELINES}


def test_that_every_policy_has_a_curve_over_the_rated_decisions():
    policy = live(80)
    policy.propose(context_from_text("hello"), ["a", "b"])  # not rated
    curves = regret_curves(policy)
    assert curves.decisions == tuple(range(1, 81))
    assert {len(curve) for curve in curves.curves.values()} == {80}
    assert curves.curves[THIS_POLICY][-1] < curves.curves["random"][-1]
    assert curves.curves[THIS_POLICY][-1] < curves.curves["best_single"][-1]


def test_that_ratings_count_where_they_are_and_beliefs_elsewhere():
    policy = RouterPolicy()
    made = policy.propose(context_from_text("hello"), ["a", "b"], 1)
    policy.rate(made.decision, {made.asked[0]: 1.0})
    other = next(model for model in "ab" if model not in made.asked)
    believed = policy.state.beliefs("short", (other,)).quality[0]
    curves = regret_curves(policy)
    assert curves.curves[THIS_POLICY].tolist() == [0.0]
    assert curves.curves["thompson"][0] in (0.0, pytest.approx(1.0 - believed))


def test_that_the_curves_follow_the_trade_off():
    policy = live(60)
    before = regret_curves(policy).curves[THIS_POLICY][-1]
    policy.set_trade_off(TradeOff(cost_weight=1.0))  # b is now worse everywhere
    assert regret_curves(policy).curves[THIS_POLICY][-1] > before
