import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.ui.plots.smoothing import Smoother, smooth

VALUES = st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), max_size=60)
WEIGHTS = st.sampled_from([0.0, 0.3, 0.6, 0.88, 0.99])


def slow_smooth(values, weight):
    mean, count, result = 0.0, 0, []
    for value in values:
        if math.isnan(value):
            result.append(math.nan)
            continue
        count += 1
        mean = weight * mean + (1 - weight) * value
        result.append(mean / (1 - weight**count))
    return np.array(result)


@given(VALUES, WEIGHTS)
def test_that_smoothing_agrees_with_the_formula_written_as_a_loop(values, weight):
    expected = slow_smooth(values, weight)
    np.testing.assert_allclose(smooth(np.array(values, dtype=float), weight), expected, rtol=1e-9, atol=1e-6)


@given(VALUES, WEIGHTS, st.integers(0, 60))
def test_that_smoothing_in_two_parts_gives_the_same_as_at_once(values, weight, cut):
    array = np.array(values, dtype=float)
    smoother = Smoother(weight)
    parts = np.concatenate([smoother.extend(array[:cut]), smoother.extend(array[cut:])])
    np.testing.assert_allclose(parts, smooth(array, weight), rtol=1e-9, atol=1e-6)


def test_that_a_long_series_stays_exact_beyond_one_block():
    values = np.random.default_rng(0).normal(size=5000)
    np.testing.assert_allclose(smooth(values, 0.6), slow_smooth(values, 0.6), rtol=1e-9, atol=1e-12)


def test_that_a_constant_is_its_own_average_from_the_first_point_on():
    np.testing.assert_allclose(smooth(np.full(50, 0.7), 0.97), 0.7)


def test_that_a_value_that_is_not_finite_is_a_gap_and_leaves_the_average_alone():
    smoothed = smooth(np.array([1.0, math.inf, math.nan, 3.0]), 0.5)
    assert np.isnan(smoothed[1:3]).all()
    assert smoothed[3] == pytest.approx(slow_smooth([1.0, 3.0], 0.5)[1])


@pytest.mark.parametrize("weight", [-0.1, 1.0])
def test_that_a_weight_outside_its_range_is_refused(weight):
    with pytest.raises(ValueError, match="smoothing weight"):
        Smoother(weight)
