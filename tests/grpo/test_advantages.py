import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.grpo import group_advantages
from tests.grpo.reference import advantages_of_group

# Rewards on a grid, so that groups with equal rewards occur and a difference is never mere rounding.
REWARD = st.integers(-40, 40).map(lambda tenths: tenths / 8)
GROUPS = st.integers(2, 9).flatmap(
    lambda size: st.lists(st.lists(REWARD, min_size=size, max_size=size), min_size=1, max_size=4)
)
SEVERAL_SOURCES = st.tuples(st.integers(1, 3), st.integers(2, 5), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(
        st.one_of(st.none(), REWARD), min_size=shape[0] * shape[1] * shape[2], max_size=shape[0] * shape[1] * shape[2]
    ).map(lambda values: np.array(values, dtype=np.float64).reshape(shape))
)
STDS = st.sampled_from(["sample", "population"])
AGGREGATIONS = st.sampled_from(["sum_then_normalize", "normalize_then_sum"])
SCALES = st.sampled_from(["group", "batch", "none"])
DASH = None  # no opinion
SOME_SILENT = [[1, DASH], [0, 1], [DASH, DASH], [0.5, 0]]


def one_source(groups):
    return np.array(groups, dtype=np.float64)[:, :, None]


@pytest.mark.parametrize(
    ("rewards", "sample", "population", "trl"),
    [
        ([0, 0, 0, 1], [-0.5] * 3 + [1.5], [-0.57735] * 3 + [1.732051], [-0.4999] * 3 + [1.4997]),
        ([1, 0], [0.707107, -0.707107], [1.0, -1.0], [0.707007, -0.707007]),
        (
            [0, 1, 2, 3],
            [-1.161895, -0.387298, 0.387298, 1.161895],
            [-1.341641, -0.447214, 0.447214, 1.341641],
            [-1.161805, -0.387268, 0.387268, 1.161805],
        ),
        ([0] * 7 + [1], [-0.353553] * 7 + [2.474874], [-0.377964] * 7 + [2.645751], [-0.353453] * 7 + [2.474174]),
    ],
)
def test_that_the_worked_table_comes_out(rewards, sample, population, trl):
    group = one_source([rewards])
    assert group_advantages(group, std="sample", eps=1e-8)[0] == pytest.approx(sample, abs=2e-6)
    assert group_advantages(group, std="population", eps=1e-8)[0] == pytest.approx(population, abs=2e-6)
    assert group_advantages(group)[0] == pytest.approx(trl, abs=2e-6)


def test_that_the_example_of_the_seed_has_advantages_of_one():
    rewards = one_source([[1, 0, 1, 0, 1, 0, 0, 1]])
    advantages = group_advantages(rewards, std="population", eps=1e-8)
    assert advantages[0] == pytest.approx([1, -1, 1, -1, 1, -1, -1, 1], abs=1e-7)


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        ("sum_then_normalize", [1.154301, -0.57715, 0, -0.57715]),
        ("normalize_then_sum", [1.138412, -0.735899, 0, -0.402513]),
    ],
)
def test_that_the_worked_example_with_missing_opinions_comes_out(aggregation, expected):
    advantages = group_advantages([SOME_SILENT], weights=[1, 0.5], aggregation=aggregation)
    assert advantages[0] == pytest.approx(expected, abs=1e-6)
    assert advantages[0, 2] == 0


def test_that_one_silent_completion_leaves_the_others_their_own_mean():
    advantages = group_advantages([[[DASH], [0], [0.2], [0.3]]])
    assert advantages[0] == pytest.approx([0, -1.090376, 0.218075, 0.872301], abs=1e-6)


@pytest.mark.parametrize("aggregation", ["sum_then_normalize", "normalize_then_sum"])
@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_that_a_group_with_one_rated_completion_has_zero_advantages(scale, aggregation):
    rewards = [[[DASH], [7.0], [DASH]], [[0], [1], [2]]]
    advantages = group_advantages(rewards, scale=scale, aggregation=aggregation)
    assert advantages[0].tolist() == [0, 0, 0]
    assert advantages[1, 2] > 0


def test_that_a_batch_without_any_opinion_has_zero_advantages():
    for aggregation in ("sum_then_normalize", "normalize_then_sum"):
        assert not group_advantages(np.full((2, 3, 2), np.nan), aggregation=aggregation).any()


@given(SCALES, STDS, AGGREGATIONS, st.floats(-1e6, 1e6), st.integers(2, 40))
def test_that_a_group_with_equal_rewards_has_zero_advantages(scale, std, aggregation, reward, size):
    rewards = one_source([[reward] * size, list(range(size))])
    advantages = group_advantages(rewards, scale=scale, std=std, aggregation=aggregation, eps=1e-8)
    assert (advantages[0] == 0).all()
    assert advantages[1, -1] > 0


def test_that_eight_equal_rewards_of_float32_leave_no_residue():
    rewards = np.full((1, 8, 1), 0.95, dtype=np.float32)
    assert (group_advantages(rewards, eps=1e-8) == 0).all()


@given(GROUPS, STDS)
def test_that_the_fast_code_agrees_with_the_obvious_one(groups, std):
    advantages = group_advantages(one_source(groups), std=std, eps=1e-4)
    for row, rewards in zip(advantages, groups, strict=True):
        assert row == pytest.approx(advantages_of_group(rewards, std=std, eps=1e-4), abs=1e-9)


@given(SEVERAL_SOURCES, SCALES, STDS, AGGREGATIONS)
def test_that_the_advantages_of_a_group_sum_to_zero(rewards, scale, std, aggregation):
    advantages = group_advantages(rewards, scale=scale, std=std, aggregation=aggregation)
    # normalize_then_sum centres the sum over the batch; inside a group it sums to 0 because its parts do.
    assert advantages.sum(axis=1) == pytest.approx(np.zeros(len(rewards)), abs=1e-9)


@given(GROUPS, STDS, st.sampled_from([0.0, 1e-8, 1e-4]))
def test_that_no_advantage_exceeds_the_bound(groups, std, eps):
    size = len(groups[0])
    bound = (size - 1) / math.sqrt(size) if std == "sample" else math.sqrt(size - 1)
    rewards = one_source([group for group in groups if len(set(group)) > 1] or [[0, *range(1, size)]])
    assert np.abs(group_advantages(rewards, std=std, eps=eps)).max() <= bound + 1e-9


@given(GROUPS, SCALES, STDS, AGGREGATIONS, st.integers(-20, 20))
def test_that_shifting_a_group_changes_nothing(groups, scale, std, aggregation, shift):
    if scale == "batch":  # the spread of the batch sees the shift of one group; a shift of all it does not
        shifted = one_source(groups) + shift
    else:
        shifted = one_source(groups) + shift * np.arange(len(groups))[:, None, None]
    options = {"scale": scale, "std": std, "aggregation": aggregation}
    assert group_advantages(shifted, **options) == pytest.approx(
        group_advantages(one_source(groups), **options), abs=1e-9
    )


@given(GROUPS, st.sampled_from(["group", "batch"]), STDS, AGGREGATIONS, st.sampled_from([0.25, 3.0, 1000.0]))
def test_that_scaling_all_rewards_changes_nothing(groups, scale, std, aggregation, factor):
    options = {"scale": scale, "std": std, "aggregation": aggregation, "eps": 1e-12}
    assert group_advantages(one_source(groups) * factor, **options) == pytest.approx(
        group_advantages(one_source(groups), **options), abs=1e-8
    )


@given(GROUPS, STDS, st.sampled_from([0.5, 3.0]))
def test_that_unscaled_advantages_grow_with_the_rewards(groups, std, factor):
    plain = group_advantages(one_source(groups), scale="none", std=std)
    assert group_advantages(one_source(groups) * factor, scale="none", std=std) == pytest.approx(plain * factor)


@given(SEVERAL_SOURCES, SCALES, STDS, AGGREGATIONS, st.randoms(use_true_random=False))
def test_that_reordering_completions_and_prompts_reorders_the_advantages(rewards, scale, std, aggregation, random):
    prompts, size, _ = rewards.shape
    order_P = random.sample(range(prompts), prompts)
    order_G = random.sample(range(size), size)
    options = {"scale": scale, "std": std, "aggregation": aggregation}
    reordered = group_advantages(rewards[order_P][:, order_G], **options)
    assert reordered == pytest.approx(group_advantages(rewards, **options)[order_P][:, order_G], abs=1e-9)


@given(SEVERAL_SOURCES, SCALES, STDS, AGGREGATIONS)
def test_that_a_silent_completion_never_acts_as_a_reward_of_zero(rewards, scale, std, aggregation):
    silent = np.full((rewards.shape[0], 1, rewards.shape[2]), np.nan)
    options = {"scale": scale, "std": std, "aggregation": aggregation}
    with_silent = group_advantages(np.concatenate([rewards, silent], axis=1), **options)
    assert (with_silent[:, -1] == 0).all()
    assert with_silent[:, :-1] == pytest.approx(group_advantages(rewards, **options), abs=1e-9)


@given(SEVERAL_SOURCES, SCALES, STDS, AGGREGATIONS)
def test_that_a_silent_source_changes_nothing(rewards, scale, std, aggregation):
    silent = np.full((*rewards.shape[:2], 1), np.nan)
    options = {"scale": scale, "std": std, "aggregation": aggregation}
    with_silent = group_advantages(np.concatenate([rewards, silent], axis=2), **options)
    assert with_silent == pytest.approx(group_advantages(rewards, **options), abs=1e-9)


@given(GROUPS, STDS)
def test_that_two_groups_with_equal_prompts_are_not_merged(groups, std):
    alone = group_advantages(one_source(groups[:1]), std=std)
    beside = group_advantages(one_source([groups[0], [value + 3 for value in groups[0]]]), std=std)
    assert beside[0] == pytest.approx(alone[0], abs=1e-9)


def test_that_none_and_nan_mean_the_same_and_torch_tensors_are_taken():
    torch = pytest.importorskip("torch")
    as_none = group_advantages([[[1, None], [0, 1], [2, 3]]])
    as_nan = group_advantages(torch.tensor([[[1, math.nan], [0, 1], [2, 3]]]))
    assert as_none.tolist() == as_nan.tolist()
    assert as_none.dtype == np.float64


def test_that_the_rewards_are_not_changed():
    rewards = np.array([[[1.0, np.nan], [0.0, 1.0]]])
    kept = rewards.copy()
    for aggregation in ("sum_then_normalize", "normalize_then_sum"):
        group_advantages(rewards, weights=[2, 3], aggregation=aggregation)
    np.testing.assert_array_equal(rewards, kept)


@pytest.mark.parametrize(
    ("rewards", "options", "sentence"),
    [
        ([[[1.0]]], {}, "at least 2 completions"),
        ([[1.0, 0.0]], {}, "shape"),
        (np.zeros((0, 4, 1)), {}, "shape"),
        ([[[math.inf], [0.0]]], {}, "infinite"),
        ([[[1.0], [0.0]]], {"weights": [1, 2]}, "one for each reward source"),
        ([[[1.0], [0.0]]], {"weights": [math.nan]}, "finite numbers"),
        ([[[1.0], [0.0]]], {"scale": "batches"}, "group, batch, none"),
        ([[[1.0], [0.0]]], {"aggregation": "sum"}, "sum_then_normalize"),
        ([[[1.0], [0.0]]], {"std": "bessel"}, "sample, population"),
    ],
)
def test_that_bad_input_is_refused_in_a_sentence(rewards, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        group_advantages(rewards, **options)


def test_that_trust_and_weight_count_even_where_a_source_is_alone():
    rewards = [[[1.0], [0.0], [0.0], [2.0]], [[None], [None], [None], [None]]]
    options = {"aggregation": "normalize_then_sum"}
    full = group_advantages(rewards, trust=[[1.0], [1.0]], **options)
    # mean 0.75, sample std 0.95743
    assert full[0] == pytest.approx([0.26112, -0.78335, -0.78335, 1.30558], abs=1e-3)
    assert full[1].tolist() == [0.0] * 4
    assert group_advantages(rewards, trust=[[0.5], [1.0]], **options) == pytest.approx(full / 2)
    assert group_advantages(rewards, trust=[[0.0], [0.0]], **options).tolist() == [[0.0] * 4] * 2
    silent = [[[p, None] for (p,) in rewards[0]]]
    # weights 3 and 4: alone the first one has 3 / sqrt(9 + 16) of its size
    alone = group_advantages(silent, weights=[3.0, 4.0], trust=[[1.0, 1.0]], **options)
    assert alone[0] == pytest.approx(full[0] * 0.6)


def test_that_what_the_sources_say_under_trust_adds_up():
    program, human = [0.0, 0.0, 1.0, 1.0], [3.0, 1.0, 1.0, None]
    rewards = [[[p, h] for p, h in zip(program, human, strict=True)]]
    options = {"aggregation": "normalize_then_sum", "weights": [1.0, 2.0]}
    both = group_advantages(rewards, trust=[[1.0, 1.0]], **options)
    without = group_advantages(rewards, trust=[[1.0, 0.0]], **options)
    people = group_advantages(rewards, trust=[[0.0, 1.0]], **options)
    assert without + people == pytest.approx(both)
    assert without[0, 0] == pytest.approx(without[0, 1])
    assert people[0, 3] == 0
    assert both.sum() == pytest.approx(0)
