"""Runs that other programs call broken and that are not. Nothing may be found in them."""

import math

import numpy as np
import pytest

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from tests.diagnose.runs import group_of

STEPS = 200


def healthy(step, random):
    progress = 1 - math.exp(-step / 80)
    right = 0.3 + 0.5 * progress
    return {
        "reward": right + random.normal(0, 0.03),
        "reward_std": math.sqrt(right * (1 - right)),
        "kl": 0.02 + 0.0003 * step + abs(random.normal(0, 0.005)),
        "kl/max": 1.0,
        "entropy": 1.2 - 0.5 * progress + random.normal(0, 0.03),
        "loss": random.normal(0, 0.02),
        "grad_norm": 0.8 + random.normal(0, 0.08),
        "learning_rate": 1e-4,
        "clip_ratio/region_mean": 0.03 + abs(random.normal(0, 0.005)),
        "clip_ratio/low_mean": 0.015,
        "clip_ratio/high_mean": 0.015,
        "frac_reward_zero_std": right**8 + (1 - right) ** 8,
        "completions/mean_length": 40 + random.normal(0, 2),
        "completions/clipped_ratio": 0.01,
        "step_time": 1.0 + abs(random.normal(0, 0.1)),
    }


def found(facts=None, change=lambda step, row: row, groups=lambda step, random: (), steps=range(1, STEPS + 1), seed=0):
    random = np.random.default_rng(seed)
    diagnosis = Diagnosis(facts or RunFacts())
    for step in steps:
        diagnosis.feed_step(step, change(step, healthy(step, random)), groups(step, random))
    return [finding.detector for finding in diagnosis.findings]


@pytest.mark.parametrize("seed", range(5))
def test_that_a_healthy_run_has_no_finding(seed):
    assert found(seed=seed) == []


def test_that_padding_with_nan_is_no_broken_gradient():
    def padded(step, row):
        return {name: value if step % 5 == 0 or name == "reward" else math.nan for name, value in row.items()}

    assert found(change=padded) == []


def test_that_binary_rewards_are_no_two_modes():
    def groups(step, random):
        p = 0.3 + 0.5 * (1 - math.exp(-step / 80))
        return tuple(
            group_of((random.random(8) < p).astype(float).tolist(), index=i, prompt=f"{step}/{i}") for i in range(8)
        )

    assert found(groups=groups) == []


def test_that_a_small_entropy_is_no_collapse():
    assert found(change=lambda step, row: row | {"entropy": 0.02 + 0.001 * math.sin(step)}) == []


def test_that_clip_and_loss_of_zero_with_one_update_are_none():
    zero = {"clip_ratio/region_mean": 0.0, "clip_ratio/low_mean": 0.0, "clip_ratio/high_mean": 0.0, "loss": 0.0}
    assert found(RunFacts(num_iterations=1), change=lambda step, row: row | zero) == []


def test_that_a_kl_of_exactly_zero_without_beta_is_none():
    assert found(RunFacts(beta=0.0), change=lambda step, row: row | {"kl": 0.0, "kl/max": 0.0}) == []


def test_that_one_kl_spike_is_none():
    assert found(change=lambda step, row: row | ({"kl": 500.0} if step == 120 else {})) == []


def test_that_a_resumed_run_whose_steps_go_back_is_none():
    assert found(steps=[*range(1, 121), *range(101, 201)]) == []


def test_that_steps_logged_every_ten_are_none():
    assert (
        found(
            steps=range(10, 10 * STEPS, 10), change=lambda step, row: healthy(step // 10, np.random.default_rng(step))
        )
        == []
    )


def test_that_a_log_interval_of_ten_still_finds_trouble():
    assert "kl_runaway" in found(steps=range(10, 10 * STEPS, 10), change=lambda step, row: row | {"kl": 3.0})


def test_that_groups_of_two_are_none():
    def halved(step, row):
        right = row["reward"]
        return row | {"frac_reward_zero_std": right**2 + (1 - right) ** 2}

    assert found(RunFacts(num_generations=2), change=halved) == []


@pytest.mark.parametrize("missing", sorted(healthy(1, np.random.default_rng(0))))
def test_that_missing_keys_are_none(missing):
    assert found(change=lambda step, row: {name: value for name, value in row.items() if name != missing}) == []


def test_that_a_run_without_anything_is_none():
    assert found(change=lambda step, row: {}) == []
    assert found(change=lambda step, row: {"something/else": 1.0}) == []
