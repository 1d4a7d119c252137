"""The sampler: probabilities against simulation, draws against their propensities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from grpo_gui.router.sampler import best_probabilities, ordered_draw, sequential_probabilities, with_floor

BELIEFS = [
    ([0.5, 0.5], [0.1, 0.1]),
    ([0.5, 0.6, 0.4], [0.1, 0.02, 0.3]),
    ([0.9, 0.1], [0.01, 0.01]),
    ([0.3, 0.31, 0.32, 0.33], [0.05, 0.04, 0.03, 0.2]),
    ([-2.0, -2.1], [0.5, 0.01]),
]


@pytest.mark.parametrize(("means", "deviations"), BELIEFS)
def test_that_the_integral_agrees_with_simulated_thompson_draws(means, deviations):
    draws = np.random.default_rng(0).normal(means, deviations, (200_000, len(means)))
    simulated = np.bincount(draws.argmax(1), minlength=len(means)) / len(draws)
    assert best_probabilities(np.array(means), np.array(deviations)) == pytest.approx(simulated, abs=6e-3)


def test_that_one_model_is_certain_and_equal_models_share():
    assert best_probabilities(np.array([0.2]), np.array([0.1])).tolist() == [1.0]
    assert best_probabilities(np.full(7, 0.4), np.full(7, 0.05)) == pytest.approx(np.full(7, 1 / 7))
    assert best_probabilities(np.array([0.2, 0.4]), np.zeros(2)) == pytest.approx([0, 1], abs=1e-5)


@given(
    arrays(np.float64, st.integers(2, 12), elements=st.floats(-3, 1)),
    st.floats(1e-6, 1),
    st.floats(0, 0.2),
)
def test_that_probabilities_sum_to_one_and_keep_the_floor(means, deviation, floor):
    probabilities = with_floor(best_probabilities(means, np.full(len(means), deviation)), floor)
    assert probabilities.sum() == pytest.approx(1.0)
    assert probabilities.min() >= min(floor, 0.5 / len(means)) - 1e-12


def test_that_the_draw_is_ordered_without_replacement_with_the_stated_propensities():
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])
    generator = np.random.default_rng(1)
    counts = {}
    for _ in range(20_000):
        chosen, propensities = ordered_draw(probabilities, 2, generator.random(2).tolist())
        counts[chosen] = counts.get(chosen, 0) + 1
        assert propensities == pytest.approx(sequential_probabilities(probabilities, chosen))
    for (first, second), count in counts.items():
        expected = probabilities[first] * probabilities[second] / (1 - probabilities[first])
        assert count / 20_000 == pytest.approx(expected, abs=0.012)


@given(
    arrays(np.float64, st.integers(1, 6), elements=st.floats(0.001, 1)),
    st.lists(st.floats(0, 1, exclude_max=True), min_size=6, max_size=6),
)
def test_that_all_models_are_drawn_once_and_the_last_one_for_certain(weights, uniforms):
    probabilities = weights / weights.sum()
    chosen, propensities = ordered_draw(probabilities, len(weights), uniforms)
    assert sorted(chosen) == list(range(len(weights)))
    assert propensities[-1] == pytest.approx(1.0)


def test_that_a_model_without_probability_is_never_drawn():
    chosen, _ = ordered_draw(np.array([0.5, 0.5, 0.0]), 2, [1 - 1e-16, 1 - 1e-16])
    assert sorted(chosen) == [0, 1]
