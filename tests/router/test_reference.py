"""The reference mode: bit-equal golden runs, every sentence of its description, every known fault."""

import json
import math
import random
from pathlib import Path

import pytest

from grpo_gui.router import GRPORouterPolicy, GRPOSample, GRPOState, RoutingContext
from grpo_gui.router.context import context_from_text, derive_query_class

CASES = json.loads((Path(__file__).parent / "cases" / "router_reference_py311.json").read_text())["scenarios"]
SHORT = RoutingContext(query_length=10)
GENERAL = RoutingContext(query_length=100)
MODELS = ["a", "b", "c"]


def shown(state):
    return {model: {name: repr(value) for name, value in classes.items()} for model, classes in state.weights.items()}


def named(name):
    return [case for case in CASES if case["name"] == name]


def fed(samples, **options):
    policy = GRPORouterPolicy(**options)
    for sample in samples:
        policy.add_sample(*sample)
    return policy


@pytest.mark.parametrize("case", named("basic"), ids=lambda case: f"seed {case['seed']}")
def test_that_the_golden_run_is_reproduced_bit_for_bit(case):
    policy = GRPORouterPolicy(**case["kwargs"])
    random.seed(case["seed"])
    assert [policy.route(SHORT, MODELS) for _ in range(12)] == case["routes_before_samples"]
    for sample in case["samples"]:
        policy.add_sample(*sample)
    assert [policy.route(SHORT, MODELS) for _ in range(12)] == case["routes_before_update"]
    assert policy.update() == case["update"]
    assert shown(policy.state) == case["weights"]
    assert [policy.route(SHORT, MODELS) for _ in range(24)] == case["routes_after_update"]


def test_that_the_golden_closed_loop_is_reproduced_bit_for_bit():
    (case,) = named("closed_loop_60")
    policy = GRPORouterPolicy(**case["kwargs"])
    contexts = [RoutingContext(query_length=100, has_code=t == 0, has_math=t == 1) for t in range(3)]
    true = {"a": 0.8, "b": 0.55, "c": 0.3}
    random.seed(case["seed"])
    log = []
    for t in range(60):
        context = contexts[t % 3]
        model = policy.route(context, MODELS)
        reward = round(true[model] + 0.01 * ((t * 37) % 11 - 5), 4)
        policy.add_sample(derive_query_class(context), model, reward)
        log.append([derive_query_class(context), model, reward])
        if t % 6 == 5:
            policy.update()
    assert log == case["log"]
    assert shown(policy.state) == case["weights"]
    assert policy.state.sample_counts == case["sample_counts"]
    assert policy.state.total_updates == case["total_updates"]


@pytest.mark.parametrize("case", named("equal_rewards_residue"), ids=lambda case: f"{case['n']} x {case['reward']}")
def test_that_equal_rewards_move_weights_by_the_same_residue_as_in_the_original(case):
    policy = fed([("general", "ab"[(i + 1) % 2], case["reward"]) for i in range(case["n"])])
    policy.update()
    assert shown(policy.state) == case["weights"]
    assert policy.flat_groups == ("general",)


# -- the query class ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "name"),
    [
        (RoutingContext(has_code=True, has_math=True, query_length=1), "code"),
        (RoutingContext(has_math=True, query_length=1), "math"),
        (RoutingContext(query_length=49), "short"),
        (RoutingContext(query_length=50), "general"),
        (RoutingContext(query_length=500), "general"),
        (RoutingContext(query_length=501), "long"),
        (RoutingContext(query="def f(): solve the equation", query_length=60), "general"),
        (RoutingContext(), "short"),
    ],
)
def test_that_the_first_rule_that_matches_gives_the_class_and_the_text_is_not_looked_at(context, name):
    assert derive_query_class(context) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Look at ```x = 1``` please", "code"),
        ("What does `len` do?", "code"),
        ("def f", "code"),
        ("please import numpy", "code"),
        ("the class of 1984 and what became of it", "code"),
        ("a function of time", "code"),
        ("classify this", "short"),
        ("Solve x", "math"),
        ("the integral", "math"),
        ("two equations", "math"),
        ("CALCULATE it", "math"),
        ("compute it", "math"),
        ("hello", "short"),
        ("x" * 501, "long"),
        ("x" * 500, "general"),
    ],
)
def test_that_a_context_is_built_from_a_querys_text(text, name):
    assert derive_query_class(context_from_text(text)) == name


def test_that_the_context_has_the_documented_defaults():
    context = RoutingContext()
    assert (context.query, context.query_length, context.has_code, context.has_math) == ("", 0, False, False)
    assert (context.language, context.urgency, context.metadata) == ("en", 0.5, {})


# -- route ---------------------------------------------------------------------------------------------


def test_that_an_empty_list_of_models_is_a_value_error():
    with pytest.raises(ValueError, match=r"^No models available for routing$"):
        GRPORouterPolicy().route(SHORT, [])


def test_that_below_min_samples_the_choice_is_random_choice():
    policy = fed([("short", "a", 1.0)] * 4)
    random.seed(5)
    routes = [policy.route(SHORT, MODELS) for _ in range(50)]
    random.seed(5)
    assert routes == [random.choice(MODELS) for _ in range(50)]


def test_that_from_min_samples_on_one_random_number_is_drawn_and_compared_with_the_cumulative_softmax():
    policy = fed([("short", "a", 1.0), ("short", "b", 0.0)] * 3, temperature=0.5)
    policy.update()
    policy.state.weights["a"]["short"] = 0.4
    policy.state.weights["b"]["short"] = -0.2
    exponentials = [math.exp(0.0), math.exp((-0.2 - 0.4) / 0.5)]
    random.seed(9)
    routes = [policy.route(SHORT, ["a", "b"]) for _ in range(50)]
    random.seed(9)
    expected = ["a" if random.random() <= exponentials[0] / sum(exponentials) else "b" for _ in range(50)]
    assert routes == expected


def test_that_rounding_at_the_end_of_the_cumulative_sum_gives_the_last_model(monkeypatch):
    policy = fed([("short", "a", 1.0)] * 5)
    monkeypatch.setattr(random, "random", lambda: 1.0 + 1e-9)
    assert policy.route(SHORT, MODELS) == "c"


def test_that_routing_leaves_the_weights_as_they_are():
    policy = fed([("short", "a", 1.0)] * 5)
    policy.route(SHORT, MODELS)
    assert policy.state.weights == {}


# -- samples and updates -------------------------------------------------------------------------------


def test_that_adding_a_sample_counts_its_class_at_once():
    policy = fed([("short", "a", 1.0), ("code", "a", 1.0), ("short", "b", 0.0)])
    assert policy.state.sample_counts == {"short": 2, "code": 1}
    assert policy.state.weights == {}


def test_that_an_empty_buffer_gives_the_documented_answer():
    assert GRPORouterPolicy().update() == {"updated": False, "reason": "no samples"}


def test_that_an_update_uses_the_population_std_and_counts_skipped_groups():
    policy = fed([("short", "a", 1.0), ("short", "b", 0.0), ("code", "a", 0.3)], learning_rate=0.5)
    assert policy.update() == {
        "updated": True,
        "samples_processed": 3,
        "groups": 2,
        "updates_applied": 2,
        "total_updates": 1,
    }
    assert policy.state.weights == {"a": {"short": 0.5}, "b": {"short": -0.5}}
    assert policy.flat_groups == ()
    assert policy.update() == {"updated": False, "reason": "no samples"}


def test_that_a_variance_of_zero_divides_by_one():
    policy = fed([("short", "a", 0.5), ("short", "b", 0.5)])
    policy.update()
    assert policy.state.weights == {"a": {"short": 0.0}, "b": {"short": 0.0}}


def test_that_the_state_is_live_and_its_defaults_nest():
    policy = fed([("short", "a", 1.0)])
    state = policy.state
    policy.add_sample("short", "b", 0.0)
    assert state is policy.state
    assert state.sample_counts["short"] == 2
    assert state.weights["any"]["class"] == 0.0
    assert GRPOState().weights["any"]["class"] == 0.0


def test_that_reset_forgets_state_and_buffer():
    policy = fed([("short", "a", 1.0), ("short", "b", 0.0)])
    policy.reset()
    assert policy.update() == {"updated": False, "reason": "no samples"}
    assert policy.state == GRPOState()


def test_that_a_sample_keeps_its_three_values():
    sample = GRPOSample("short", "a", 1.0)
    assert (sample.query_class, sample.model, sample.reward) == ("short", "a", 1.0)


# -- the known faults, kept on purpose (the default mode's tests show that they are absent there) --------


def test_that_fault_1_equal_rewards_move_weights():
    policy = GRPORouterPolicy(learning_rate=0.1)
    moved = 0
    for n in range(2, 33):
        for reward in (0.2, 0.4, 0.6, 0.8, 1.0):
            policy.reset()
            for i in range(n):
                policy.add_sample("general", "ab"[i % 2], reward)
            policy.update()
            moved += any(value for classes in policy.state.weights.values() for value in classes.values())
    assert moved == 99  # of 155


def test_that_fault_1_repeated_updates_add_the_residue_up():
    policy = GRPORouterPolicy()
    for _ in range(100):
        for i in range(10):
            policy.add_sample("general", "a" if i < 7 else "b", 0.7)
        policy.update()
    assert policy.state.weights["a"]["general"] == pytest.approx(-70.0)
    assert policy.state.weights["b"]["general"] == pytest.approx(-30.0)


def test_that_fault_2_the_size_of_a_gap_does_not_matter():
    wide, narrow = (fed([("short", "a", 0.5 + gap), ("short", "b", 0.5)]) for gap in (0.5, 1e-9))
    wide.update()
    narrow.update()
    assert narrow.state.weights["a"]["short"] == pytest.approx(wide.state.weights["a"]["short"], rel=1e-6)


def test_that_fault_2_chunking_the_same_samples_changes_the_result_22_fold():
    difficulty = [i / 32 for i in range(32)]
    samples = [("short", model, d + 0.026 * (model == "a")) for d in difficulty for model in "ab"]
    results = []
    for chunk in (2, 64):
        policy = GRPORouterPolicy()
        for start in range(0, 64, chunk):
            for sample in samples[start : start + chunk]:
                policy.add_sample(*sample)
            policy.update()
        results.append(policy.state.weights["a"]["short"])
    assert results[0] / results[1] == pytest.approx(22, rel=0.05)


def test_that_fault_3_weights_grow_without_bound_and_an_unsampled_model_gets_no_picks():
    policy = GRPORouterPolicy()
    for _ in range(1000):
        policy.add_sample("short", "a", 1.0)
        policy.add_sample("short", "b", 0.0)
        policy.update()
    assert policy.state.weights["a"]["short"] == pytest.approx(100.0)
    random.seed(1)
    assert [policy.route(SHORT, ["a", "new"]) for _ in range(2000)].count("new") == 0


def test_that_fault_4_a_temperature_of_zero_divides_by_zero():
    policy = fed([("short", "a", 1.0)] * 5, temperature=0.0)
    with pytest.raises(ZeroDivisionError):
        policy.route(SHORT, MODELS)


def test_that_fault_4_a_nan_poisons_the_class_for_ever():
    policy = fed([("short", "a", math.nan), ("short", "b", 0.0)])
    policy.update()
    for _ in range(10):
        policy.add_sample("short", "a", 1.0)
        policy.add_sample("short", "b", 0.0)
        policy.update()
    assert math.isnan(policy.state.weights["a"]["short"])


def test_that_fault_4_a_none_is_accepted_and_breaks_every_later_update():
    policy = fed([("short", "a", None), ("short", "b", 0.0)])
    for _ in range(3):
        policy.add_sample("short", "a", 1.0)
        with pytest.raises(TypeError):
            policy.update()


def test_that_fault_4_a_duplicate_name_gets_double_probability():
    policy = fed([("general", "a", 1.0)] * 5)
    random.seed(3)
    share = [policy.route(GENERAL, ["a", "a", "b"]) for _ in range(3000)].count("a") / 3000
    assert share == pytest.approx(2 / 3, abs=0.03)


def test_that_fault_5_group_size_is_never_read_and_singletons_are_dropped_but_counted():
    samples = [("short", "abcd"[i % 4], i / 10) for i in range(8)] + [("code", "a", 1.0)]
    policies = [fed(samples, group_size=size) for size in (2, 4, 1000)]
    results = [policy.update() for policy in policies]
    assert results[0] == results[1] == results[2]
    assert results[0]["groups"] == 2
    assert results[0]["updates_applied"] == 8
    assert policies[0].state == policies[1].state == policies[2].state


def test_that_fault_6_there_is_no_seed_no_lock_and_no_propensity():
    with pytest.raises(TypeError):
        GRPORouterPolicy(seed=1)
    policy = GRPORouterPolicy()
    assert not [name for name in vars(policy) if "lock" in name or "log" in name]
    assert isinstance(policy.route(SHORT, MODELS), str)
