"""The default policy: every sentence of what it promises, and every fault of the reference absent."""

import inspect
import math
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import BadInputError
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.context import RoutingContext, context_from_text
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.rewards import Outcome, TradeOff
from grpo_gui.router.table import RatedGroup, TableWeights
from grpo_gui.router_events import RouterDecided, RouterModelRenamed, RouterRated, RouterStarted, RouterWeightsMoved

SHORT = RoutingContext(query="hello", query_length=5)
MODELS = ["a", "b", "c"]
QUALITY = {"a": 0.9, "b": 0.5, "c": 0.1}


def taught(policy, groups=40, quality=QUALITY, context=SHORT, models=MODELS, count=2):
    for _ in range(groups):
        made = policy.propose(context, models, count)
        policy.rate(made.decision, {model: quality[model] for model in made.asked})
    return policy


def weights(policy, name="short", models=MODELS):
    return policy.state.table.row(name, policy.state.arms.places(tuple(models))).tolist()


# -- groups ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3])
def test_that_group_size_is_the_number_of_models_asked(size):
    policy = RouterPolicy(RouterConfig(group_size=size))
    made = policy.propose(SHORT, MODELS)
    assert len(made.asked) == len(set(made.asked)) == len(made.propensities) == size


def test_that_no_more_models_are_asked_than_there_are():
    assert sorted(RouterPolicy(RouterConfig(group_size=9)).propose(SHORT, MODELS).asked) == MODELS


def test_that_a_group_is_the_answers_to_one_query_so_a_hard_query_is_no_noise():
    policy = RouterPolicy(RouterConfig(pull=0.0))
    for level in (0.9, 0.1, 0.5, 0.3):  # b is always .1 better, whatever the query's difficulty
        made = policy.propose(SHORT, ["a", "b"], 2)
        learned = policy.rate(made.decision, {"a": level, "b": level + 0.1})
        assert dict(zip(made.asked, learned.update.advantages, strict=True))["b"] > 0
    assert weights(policy, models=["a", "b"])[1] > 0


def test_that_a_rating_alone_is_measured_against_the_running_mean_of_its_class():
    policy = RouterPolicy(RouterConfig(group_size=1))
    first = policy.rate(policy.propose(SHORT, MODELS).decision, {policy.state.decisions[1].asked[0]: 0.6})
    assert not first.update.had_signal  # nothing to compare with
    made = policy.propose(SHORT, MODELS)
    second = policy.rate(made.decision, {made.asked[0]: 0.9})
    assert second.update.advantages == (pytest.approx(0.3),)


def test_that_models_without_an_answer_are_left_out_of_the_group():
    policy = RouterPolicy(RouterConfig(group_size=3))
    made = policy.propose(SHORT, MODELS)
    learned = policy.rate(made.decision, {made.asked[0]: 1.0, made.asked[2]: 0.0})
    assert len(learned.update.advantages) == 2
    assert made.asked[1] not in policy.state.rated[made.decision]


# -- no signal, gradient, ratio, cap, floor -------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 8), st.sampled_from(["short", "math"])), min_size=1, max_size=25
    ),
    st.sampled_from([1, 3, 5, 7, 10, 20]),
)
def test_that_equal_rewards_move_no_weight_for_every_grid_of_ratings(groups, grid):
    policy = RouterPolicy(RouterConfig(group_size=8))
    models = [f"m{i}" for i in range(8)]
    value = {}
    for step, size, name in groups:
        value.setdefault(name, (step % (grid + 1)) / grid)  # one value per class, also for ratings that come alone
        made = policy.propose(SHORT, models, size, query_class=name)
        policy.rate(made.decision, dict.fromkeys(made.asked, value[name]))
    assert not policy.state.table._weights.any()


@given(st.integers(2, 8), st.integers(0, 20), st.sampled_from([1, 3, 5, 7, 10, 20]))
def test_that_a_group_of_equal_rewards_moves_no_weight_that_was_learned_before(size, step, grid):
    models = [f"m{i}" for i in range(8)]
    policy = RouterPolicy(RouterConfig(group_size=8))
    taught(policy, 5, {model: i / 8 for i, model in enumerate(models)}, models=models, count=8)
    before = policy.state.table._weights.copy()
    made = policy.propose(SHORT, models, size)
    learned = policy.rate(made.decision, dict.fromkeys(made.asked, (step % (grid + 1)) / grid))
    assert not learned.update.had_signal
    assert np.array_equal(before, policy.state.table._weights)


def test_that_a_tiny_gap_moves_less_than_a_wide_one():
    moved = []
    for gap in (0.5, 0.01):
        policy = RouterPolicy(RouterConfig(pull=0.0))
        made = policy.propose(SHORT, ["a", "b"], 2)
        policy.rate(made.decision, {"a": 0.4 + gap, "b": 0.4})
        moved.append(weights(policy)[0])
    assert moved[0] > 3 * moved[1] > 0


def test_that_a_model_that_was_not_asked_moves_by_the_softmax_gradient():
    policy = RouterPolicy(RouterConfig(pull=0.0, group_size=1))
    policy.rate(policy.propose(SHORT, MODELS).decision, {policy.state.decisions[1].asked[0]: 0.2})
    made = policy.propose(SHORT, MODELS)
    policy.rate(made.decision, {made.asked[0]: 0.8})
    row = dict(zip(MODELS, weights(policy), strict=True))
    assert row.pop(made.asked[0]) > 0
    assert all(value < 0 for value in row.values())
    assert sum(weights(policy)) == pytest.approx(0.0, abs=1e-12)


def test_that_weights_stay_within_the_cap_and_every_probability_above_the_floor():
    config = RouterConfig(logit_cap=4.0, probability_floor=0.02)
    policy = taught(RouterPolicy(config), 400)
    assert max(abs(weight) for weight in weights(policy)) <= 4.0
    probabilities = policy.propose(SHORT, MODELS).probabilities
    assert min(probabilities) >= 0.02
    assert sum(probabilities) == pytest.approx(1.0)


def test_that_ratios_to_the_logged_propensity_are_clipped():
    table = TableWeights(RouterConfig())
    models = np.array([1, 2, 3])
    flat = np.full(3, 0.5)
    group = RatedGroup(models, (0, 1), (0.01, 0.9), (0, 1), (1.0, 0.0))
    update = table.learn("short", group, flat, flat)
    assert update.ratios == (2.0, pytest.approx((1 / 3) / (2 / 3) / 0.9))


# -- learning, drift, new models ------------------------------------------------------------------------------


def test_that_it_learns_which_model_is_best_in_which_class():
    policy = RouterPolicy()
    for _ in range(60):
        for name, quality in (("code", QUALITY), ("math", {"a": 0.1, "b": 0.5, "c": 0.9})):
            made = policy.propose(SHORT, MODELS, 2, query_class=name)
            policy.rate(made.decision, {model: quality[model] for model in made.asked})
    assert np.argmax(weights(policy, "code")) == 0
    assert np.argmax(weights(policy, "math")) == 2


def test_that_after_a_drift_the_new_best_model_leads_and_the_alarm_says_so():
    policy = taught(RouterPolicy(), 200, count=1)
    assert np.argmax(weights(policy)) == 0
    assert not policy.state.alarms
    taught(policy, 200, {"a": 0.1, "b": 0.9, "c": 0.5}, count=1)
    alarm = policy.state.alarms[0][1]
    assert (alarm.model, alarm.better) == ("a", False)
    assert np.argmax(weights(policy)) == 1


def test_that_it_never_stops_learning_at_a_number_of_samples():
    policy = taught(RouterPolicy(), 1500, count=1)
    before = weights(policy)
    made = policy.propose(SHORT, MODELS, 3)
    policy.rate(made.decision, {"a": 0.0, "b": 1.0, "c": 0.5})
    assert weights(policy) != before


def test_that_a_class_never_seen_uses_what_all_classes_taught():
    policy = taught(RouterPolicy(), 60)
    explanation = policy.explain(context_from_text("solve it"), MODELS)
    assert explanation.query_class == "math"
    assert explanation.ratings == 0
    assert explanation.models[0].model == "a"
    assert "other classes" in explanation.sentence


def test_that_a_new_model_is_tried_a_few_times_in_each_class_and_wins_when_it_is_better():
    policy = taught(RouterPolicy(), 100)
    models = [*MODELS, "new"]
    quality = QUALITY | {"new": 1.0}
    tries = 0
    for _ in range(30):
        made = policy.propose(SHORT, models, 1)
        tries += made.asked == ("new",)
        policy.rate(made.decision, {model: quality[model] for model in made.asked})
    assert tries >= 3
    taught(policy, 100, quality, models=models)
    assert np.argmax(weights(policy, models=models)) == 3


def test_that_a_new_models_prior_is_the_pooled_mean_with_small_mass():
    policy = taught(RouterPolicy(), 200)
    beliefs = policy.state.beliefs("short", ("a", "new"))
    pooled = policy.state.arms._levels[1].sum() / policy.state.arms._levels[0].sum()
    assert beliefs.quality[1] == pytest.approx(pooled, abs=0.15)
    assert beliefs.strength[1] < 5 < beliefs.strength[0]


def test_that_a_removed_model_keeps_its_history():
    policy = taught(RouterPolicy(), 60)
    before = weights(policy)[0]
    taught(policy, 30, models=["b", "c"])
    assert weights(policy)[0] == before
    assert policy.explain(SHORT, MODELS).models[0].model == "a"


def test_that_a_renamed_model_goes_on_with_its_history():
    policy = taught(RouterPolicy(), 60)
    before = weights(policy)
    policy.rename_model("a", "z")
    assert weights(policy, models=["z", "b", "c"]) == before
    policy.set_trade_off(TradeOff(0.0, 0.0))  # learns everything again, from the renamed log
    assert weights(policy, models=["z", "b", "c"]) == pytest.approx(before)
    with pytest.raises(BadInputError, match="has a history already"):
        policy.rename_model("z", "b")
    with pytest.raises(BadInputError, match="no model named 'a'"):
        policy.rename_model("a", "y")


# -- choosing -------------------------------------------------------------------------------------------------


def test_that_route_follows_the_probabilities_of_the_table():
    policy = taught(RouterPolicy(seed=4), 60)
    probabilities = policy.propose(SHORT, MODELS).probabilities
    routes = [policy.route(SHORT, MODELS) for _ in range(4000)]
    for model, probability in zip(MODELS, probabilities, strict=True):
        assert routes.count(model) / 4000 == pytest.approx(probability, abs=0.03)


def test_that_temperature_zero_takes_the_best_and_shares_ties():
    policy = RouterPolicy(RouterConfig(temperature=0.0))
    assert {policy.route(SHORT, MODELS) for _ in range(200)} == set(MODELS)
    taught(policy, 60)
    assert {policy.route(SHORT, MODELS) for _ in range(200)} == {"a"}
    assert policy.decide(SHORT, MODELS).propensities == (1.0,)


def test_that_a_decision_by_the_table_can_be_rated():
    policy = RouterPolicy()
    made = policy.decide(SHORT, MODELS)
    assert (made.sampler, len(made.asked)) == ("softmax", 1)
    assert policy.rate(made.decision, {made.asked[0]: 1.0}) is not None


def test_that_the_first_propensity_is_the_proposal_and_each_later_one_follows_from_it():
    policy = taught(RouterPolicy(seed=2), 30)
    made = policy.propose(SHORT, MODELS, 3)
    proposal = dict(zip(made.candidates, made.proposal, strict=True))
    left = 1.0
    for model, propensity in zip(made.asked, made.propensities, strict=True):
        assert propensity == pytest.approx(proposal[model] / left)
        left -= proposal[model]
    assert made.propensities[-1] == pytest.approx(1.0)


def test_that_ten_thousand_models_give_a_defined_result():
    policy = RouterPolicy()
    models = [f"model {i}" for i in range(10_000)]
    made = policy.propose(SHORT, models, 4)
    assert len(set(made.asked)) == 4
    assert sum(made.probabilities) == pytest.approx(1.0)
    policy.rate(made.decision, {model: i / 4 for i, model in enumerate(made.asked)})
    assert policy.route(SHORT, models) in models


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "No models available for routing"),
        (["a", "a"], "The model a is in the list twice"),
        (["a", ""], "must be a list of names"),
        (["a", None], "must be a list of names"),
        ([1, 2], "must be a list of names"),
        ("ab", "must be a list of names"),
    ],
)
def test_that_a_bad_list_of_models_is_a_clear_error_everywhere(models, message):
    policy = RouterPolicy()
    for call in (policy.route, policy.propose, policy.decide, policy.explain):
        with pytest.raises(BadInputError, match=message):
            call(SHORT, models)
    assert not policy.state.decisions


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_that_a_bad_count_is_a_clear_error(count):
    with pytest.raises(BadInputError, match="ask at least 1 model"):
        RouterPolicy().propose(SHORT, MODELS, count)


def test_that_an_empty_class_is_refused():
    with pytest.raises(BadInputError, match="class is empty"):
        RouterPolicy().propose(SHORT, MODELS, query_class="")


# -- ratings at the door ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quality",
    [math.nan, math.inf, -math.inf, None, "good", "0.5", -0.1, 1.1, True, [1], 10**400],
    ids=lambda value: repr(value)[:9],
)
def test_that_a_bad_rating_is_rejected_before_anything_is_kept(quality):
    log = []
    policy = RouterPolicy(record=log.extend)
    made = policy.propose(SHORT, MODELS, 2)
    entries = list(log)
    with pytest.raises(BadInputError, match="quality is"):
        policy.rate(made.decision, {made.asked[0]: 0.5, made.asked[1]: quality})
    assert log == entries
    assert not policy.state.groups
    policy.rate(made.decision, {made.asked[0]: 0.5, made.asked[1]: 0.7})  # the class is not poisoned
    assert np.isfinite(weights(policy)).all()


@pytest.mark.parametrize(("cost", "latency"), [(-1.0, 0.0), (math.nan, 0.0), (0.0, math.inf), (0.0, "slow")])
def test_that_bad_costs_and_latencies_are_rejected(cost, latency):
    with pytest.raises(BadInputError, match="0 or more"):
        Outcome(0.5, cost, latency)


def test_that_ratings_must_fit_a_decision():
    policy = RouterPolicy()
    made = policy.propose(SHORT, MODELS, 2)
    other = next(model for model in MODELS if model not in made.asked)
    for decision, outcomes, message in (
        (7, {"a": 1.0}, "no decision 7"),
        (made.decision, {other: 1.0}, "was not asked"),
        (made.decision, {}, "Nothing is rated"),
    ):
        with pytest.raises(BadInputError, match=message):
            policy.rate(decision, outcomes)
    policy.rate(made.decision, {made.asked[0]: 1.0})
    with pytest.raises(BadInputError, match="is rated already"):
        policy.rate(made.decision, {made.asked[0]: 0.0})
    policy.rate(made.decision, {made.asked[1]: 0.0})


@given(st.dictionaries(st.sampled_from(MODELS), st.floats(0, 1), min_size=1), st.integers(0, 5))
def test_that_whatever_the_valid_ratings_the_policy_stays_finite(outcomes, seed):
    policy = RouterPolicy(RouterConfig(group_size=3), seed=seed)
    for _ in range(3):
        policy.rate(policy.propose(SHORT, MODELS).decision, outcomes)
    made = policy.propose(SHORT, MODELS)
    assert np.isfinite([*made.probabilities, *made.proposal, *weights(policy)]).all()


@pytest.mark.parametrize(
    "options",
    [
        {"group_size": 0},
        {"group_size": 2.0},
        {"temperature": -1.0},
        {"temperature": math.nan},
        {"learning_rate": "fast"},
        {"discount": 0.0},
        {"logit_cap": math.inf},
        {"prior_strength": None},
    ],
)
def test_that_bad_options_are_named(options):
    with pytest.raises(BadInputError, match=next(iter(options))):
        RouterConfig(**options)


# -- cost and latency ---------------------------------------------------------------------------------------------


def test_that_the_trade_off_is_live_and_recomputed_from_what_is_stored():
    policy = RouterPolicy()
    dear = {"a": Outcome(0.9, 2.0, 5.0), "b": Outcome(0.8, 0.1, 1.0), "c": Outcome(0.1, 0.1, 1.0)}
    for _ in range(60):
        made = policy.propose(SHORT, MODELS, 2)
        policy.rate(made.decision, {model: dear[model] for model in made.asked})
    assert np.argmax(weights(policy)) == 0
    before = weights(policy)
    policy.set_trade_off(TradeOff(cost_weight=0.2))
    assert np.argmax(weights(policy)) == 1
    row = {model.model: model for model in policy.explain(SHORT, MODELS).models}
    assert row["a"].quality > row["b"].quality  # quality is kept apart from cost
    assert row["a"].cost == pytest.approx(2.0, abs=0.3)
    assert row["a"].reward == pytest.approx(row["a"].quality - 0.2 * row["a"].cost)
    policy.set_trade_off(TradeOff(latency_weight=0.2))
    assert np.argmax(weights(policy)) == 1
    policy.set_trade_off(TradeOff())
    assert weights(policy) == before  # exactly


# -- seeds, threads, log, modes -------------------------------------------------------------------------------------


def test_that_the_same_seed_decides_the_same_and_another_one_otherwise():
    runs = []
    for seed in (1, 1, 2):
        policy = taught(RouterPolicy(seed=seed), 30)
        runs.append([made.asked for made in policy.state.decisions.values()] + [policy.route(SHORT, MODELS)])
    assert runs[0] == runs[1] != runs[2]


def test_that_many_threads_may_decide_and_rate_at_once():
    log = []
    policy = RouterPolicy(record=log.extend)

    def work():
        taught(policy, 30)
        policy.explain(SHORT, MODELS)
        policy.weight_map()
        policy.route(SHORT, MODELS)

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work) for _ in range(8)]:
            done.result()
    decided = [event.decision for event in log if isinstance(event, RouterDecided)]
    assert decided == list(range(1, 241))
    assert len(policy.state.groups) == 240


def test_that_everything_is_recorded_before_it_happens():
    log = []
    policy = RouterPolicy(seed=3, record=log.extend)
    taught(policy, 2)
    assert [type(event) for event in log[:3]] == [RouterStarted, RouterDecided, RouterRated]
    assert isinstance(log[3], RouterWeightsMoved)
    made = policy.propose(SHORT, MODELS, 2)
    policy.rate(made.decision, {made.asked[0]: 1.0, made.asked[1]: 0.0})
    assert log[-1].weights == tuple(weights(policy))


def test_that_nothing_happens_when_it_cannot_be_recorded():
    def full(events):
        if any(isinstance(event, RouterRated | RouterModelRenamed) for event in events):
            raise OSError("disk full")

    policy = RouterPolicy(record=full)
    made = policy.propose(SHORT, MODELS, 2)
    with pytest.raises(OSError, match="disk full"):
        policy.rate(made.decision, {made.asked[0]: 1.0})
    assert not policy.state.groups
    assert not policy.state.rated


def test_that_a_locked_policy_keeps_ratings_and_learns_from_them_afterwards():
    policy = taught(RouterPolicy(), 20)
    policy.set_mode("locked")
    before = weights(policy)
    made = policy.propose(SHORT, MODELS, 3)
    assert made.sampler == "softmax"
    assert policy.rate(made.decision, {"a": 0.0, "b": 0.5, "c": 1.0}) is None
    assert weights(policy) == before
    policy.set_mode("learn")
    assert weights(policy) != before
    with pytest.raises(BadInputError, match="choose locked, shadow or learn"):
        policy.set_mode("wild")


def test_that_the_seeds_interface_has_what_the_reference_lacked():
    assert "seed" in inspect.signature(RouterPolicy).parameters
    assert "record" in inspect.signature(RouterPolicy).parameters


# -- explaining -----------------------------------------------------------------------------------------------------


def test_that_a_decision_can_be_explained():
    policy = taught(RouterPolicy(), 60)
    explanation = policy.explain(context_from_text("hello"), MODELS)
    assert (explanation.query_class, explanation.policy) == ("short", "table")
    assert "fewer than 50 characters" in explanation.reason
    first = explanation.models[0]
    assert first.model == "a"
    assert first.probability_low < first.probability < first.probability_high
    assert first.quality == pytest.approx(0.9, abs=0.1)
    assert explanation.ratings == sum(model.ratings for model in explanation.models) == 120
    assert explanation.sentence.startswith("The query is short because it has fewer than 50 characters. a leads")
    assert len(policy.state.decisions) == 60  # looking decides nothing


def test_that_without_any_rating_no_rating_is_said_to_decide():
    policy = RouterPolicy()
    assert policy.explain(SHORT, ["a", "b"]).sentence.endswith(
        "No answer is rated yet, so every model has the same chance."
    )


def test_that_ratings_of_another_class_are_said_to_decide():
    policy = taught(RouterPolicy(), 20)
    long = context_from_text("x" * 400)
    assert policy.explain(long, MODELS).sentence.endswith("so the models' ratings in other classes decide.")


def test_that_looking_changes_nothing_not_even_for_models_that_are_not_known():
    policy = taught(RouterPolicy(), 20)
    before = policy.state.arms.models
    policy.explain(SHORT, [*MODELS, "stranger"])
    policy.route(SHORT, [*MODELS, "stranger"])
    policy.weight_map([*MODELS, "stranger"])
    assert policy.state.arms.models == before


def test_that_the_weight_map_has_counts_and_intervals():
    policy = taught(RouterPolicy(), 30)
    weight_map = policy.weight_map()
    assert (weight_map.classes, weight_map.models) == (("short",), tuple(MODELS))
    assert weight_map.weights[0] == tuple(weights(policy))
    assert sum(weight_map.ratings[0]) == 60
    assert all(0 < margin < 0.5 for margin in weight_map.margins[0])
    assert RouterPolicy().weight_map().classes == ()


def test_that_the_drift_level_can_be_shown():
    policy = RouterPolicy()
    assert policy.drift_level() is None
    taught(policy, 20)
    level = policy.drift_level()
    assert 0 <= level.value < level.alarm


# -- speed ------------------------------------------------------------------------------------------------------------


def median_s(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2]


def test_that_routing_and_proposing_are_fast():
    models = [f"m{i}" for i in range(9)]
    policy = taught(RouterPolicy(), 50, {m: i / 9 for i, m in enumerate(models)}, models=models)
    assert median_s(lambda: policy.route(SHORT, models), 500) < 100e-6  # 1 µs measured; a busy machine may be slow
    assert median_s(lambda: policy.propose(SHORT, models), 100) < 10e-3  # .14 ms measured


# -- the reference's faults, one by one -------------------------------------------------------------------------


def test_that_fault_1_is_absent_a_hundred_groups_of_equal_ratings_leave_the_weights_at_zero():
    policy = RouterPolicy(RouterConfig(group_size=10))
    models = [f"m{i}" for i in range(10)]
    for _ in range(100):
        policy.rate(policy.propose(SHORT, models).decision, dict.fromkeys(models, 0.7))
    assert not policy.state.table._weights.any()


def test_that_fault_2_is_absent_a_gap_of_a_billionth_teaches_nothing():
    policy = RouterPolicy()
    made = policy.propose(SHORT, ["a", "b"], 2)
    assert not policy.rate(made.decision, {"a": 0.5 + 1e-9, "b": 0.5}).update.had_signal


def test_that_fault_2_is_absent_a_group_is_a_query_so_there_is_nothing_to_chunk():
    assert not hasattr(RouterPolicy, "update")
    policy = RouterPolicy()
    first, second = policy.propose(SHORT, MODELS, 2), policy.propose(SHORT, MODELS, 2)
    learned = [
        policy.rate(made.decision, dict(zip(made.asked, (0.9, 0.1), strict=True))).update.advantages
        for made in (second, first)
    ]
    assert learned == [(1.0, -1.0), (1.0, -1.0)]  # whatever else was rated before


def test_that_fault_3_is_absent_weights_are_bounded_and_an_unsampled_model_is_picked_against_a_strong_incumbent():
    policy = taught(RouterPolicy(seed=1), 500, models=["a", "b"])
    assert max(weights(policy, models=["a", "b"])) <= 4.0
    assert [policy.route(SHORT, ["a", "new"]) for _ in range(2000)].count("new") > 30


def test_that_fault_3_is_absent_after_a_drift_it_does_not_fall_below_chance():
    policy = taught(RouterPolicy(seed=1), 300, count=1)
    after = {"a": 0.1, "b": 0.5, "c": 0.9}
    earned = []
    for _ in range(300):
        made = policy.propose(SHORT, MODELS, 1)
        earned.append(after[made.asked[0]])
        policy.rate(made.decision, {made.asked[0]: earned[-1]})
    assert np.mean(earned) > np.mean(list(after.values())) + 0.2


def test_that_fault_5_is_absent_group_size_changes_what_is_asked():
    sizes = {size: len(RouterPolicy(RouterConfig(group_size=size)).propose(SHORT, MODELS).asked) for size in (1, 2, 3)}
    assert sizes == {1: 1, 2: 2, 3: 3}
