import math

import numpy as np
import pytest

from grpo_gui.grpo import group_advantages, rollout_metrics


def metrics_of(rewards, *, weights=None, lengths=None, truncated=None, correct=None, sources=("exact",), **options):
    rewards = np.array(rewards, dtype=np.float64)
    shape = rewards.shape[:2]
    return rollout_metrics(
        rewards,
        weights,
        group_advantages(rewards, weights=weights, **options),
        np.ones(shape, dtype=np.int64) if lengths is None else lengths,
        np.zeros(shape, dtype=bool) if truncated is None else truncated,
        np.full(shape, None) if correct is None else correct,
        sources=sources,
    )


def test_that_rewards_are_described_over_the_whole_batch_and_by_source():
    metrics = metrics_of([[[1, 2], [0, 4]], [[1, None], [1, 0]]], weights=[1, 0.5], sources=("exact", "length"))
    assert metrics["reward"] == pytest.approx((2 + 2 + 1 + 1) / 4)
    assert metrics["reward_std"] == pytest.approx(math.sqrt(1 / 3))
    assert metrics["reward_group_std"] == pytest.approx(0)  # 1 + 0.5 * 2 = 0 + 0.5 * 4, and 1 = 1 + 0.5 * 0
    assert metrics["rewards/exact/mean"] == pytest.approx(0.75)
    assert metrics["rewards/exact/std"] == pytest.approx(0.5)
    assert metrics["rewards/length/mean"] == pytest.approx(2)
    assert metrics["rewards/length/std"] == pytest.approx(2)


def test_that_completions_without_an_opinion_are_left_out():
    metrics = metrics_of([[[None], [1.0], [0.0]]])
    assert metrics["reward"] == pytest.approx(0.5)
    assert metrics["advantage/mean"] == pytest.approx(0)
    assert metrics["advantage/std"] == pytest.approx(0.99985859, abs=1e-6)  # of +-.707007 alone, without a 0


def test_that_the_spread_inside_a_group_is_the_mean_of_the_groups_that_have_two_rewards():
    metrics = metrics_of([[[1.0], [0.0]], [[None], [5.0]], [[2.0], [4.0]]])
    assert metrics["reward_group_std"] == pytest.approx((math.sqrt(1 / 2) + math.sqrt(2)) / 2)
    assert math.isnan(metrics_of([[[None], [5.0]]])["reward_group_std"])


def test_that_a_batch_without_opinions_has_no_reward():
    metrics = metrics_of([[[None], [None]]])
    assert math.isnan(metrics["reward"])
    assert math.isnan(metrics["reward_std"])
    assert math.isnan(metrics["advantage/max"])
    assert metrics["frac_reward_zero_std"] == 1


def test_that_dead_groups_are_split_by_their_reason():
    rewards = [[[1], [1]], [[0], [0]], [[0.5], [0.5]], [[1], [0]]]
    correct = [[True, True], [False, False], [True, False], [True, False]]
    metrics = metrics_of(rewards, correct=correct)
    assert metrics["frac_reward_zero_std"] == 0.75
    assert metrics["dead_groups/all_right"] == 0.25
    assert metrics["dead_groups/all_wrong"] == 0.25
    assert metrics["dead_groups/other"] == 0.25


def test_that_a_dead_group_without_an_answer_is_neither_right_nor_wrong():
    metrics = metrics_of([[[1], [1]]], correct=[None, None])
    assert metrics["dead_groups/other"] == 1


def test_that_a_group_is_alive_where_sources_differ_though_their_sum_does_not():
    rewards = [[[1, 0], [0, 1], [0, 1]], [[1, 1], [0, 0], [1, 0]]]
    options = {"weights": [1, 1], "sources": ("a", "b")}
    assert metrics_of(rewards, **options)["frac_reward_zero_std"] == 0.5
    # normalised: 1.1546 - 1.1546 cancels exactly with two sources of equal spread, so weigh one of them more
    weighted = {"weights": [1, 2], "sources": ("a", "b"), "aggregation": "normalize_then_sum"}
    assert metrics_of(rewards, **weighted)["frac_reward_zero_std"] == 0


def test_that_equal_sums_that_differ_by_rounding_count_as_equal():
    rewards = [[[0.1, 0.2], [0.3, 0.0], [0.2, 0.1]]]
    assert metrics_of(rewards, sources=("a", "b"))["frac_reward_zero_std"] == 1


def test_that_lengths_count_all_and_terminated_completions_apart():
    metrics = metrics_of([[[0], [1]], [[0], [1]]], lengths=[4, 16, 6, 2], truncated=[False, True, False, False])
    assert metrics["completions/mean_length"] == 7
    assert metrics["completions/min_length"] == 2
    assert metrics["completions/max_length"] == 16
    assert metrics["completions/clipped_ratio"] == 0.25
    assert metrics["completions/mean_terminated_length"] == 4


def test_that_no_terminated_completion_means_no_terminated_length():
    metrics = metrics_of([[[0], [1]]], lengths=[16, 16], truncated=[True, True])
    assert math.isnan(metrics["completions/mean_terminated_length"])


def test_that_advantages_are_described():
    metrics = metrics_of([[[0], [0], [0], [1]]])
    assert metrics["advantage/min"] == pytest.approx(-0.4999)
    assert metrics["advantage/max"] == pytest.approx(1.4997)
    assert metrics["advantage/mean"] == pytest.approx(0)


def test_that_every_value_is_a_plain_float():
    metrics = metrics_of([[[0], [1]]])
    assert {type(value) for value in metrics.values()} == {float}
