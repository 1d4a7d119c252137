import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.diagnose.statistics import (
    chi_square_p,
    fitted_line,
    mann_kendall,
    median,
    ranks,
    row_correlations,
    row_spearman,
    sign_test_p,
    student_p,
    theil_sen,
    welch_p,
)

numbers = st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=30)


@given(numbers)
def test_that_mann_kendall_is_the_sum_of_all_signs(values):
    score = sum(np.sign(b - a) for i, a in enumerate(values) for b in values[i + 1 :])
    n = len(values)
    variance = n * (n - 1) * (2 * n + 5)
    variance -= sum(t * (t - 1) * (2 * t + 5) for t in np.unique(values, return_counts=True)[1].tolist())
    expected = 0.0 if variance <= 0 else (score - np.sign(score)) / math.sqrt(variance / 18)
    assert mann_kendall(np.array(values)).z == pytest.approx(expected)


def test_that_mann_kendall_of_ten_rising_values_is_known():
    trend = mann_kendall(np.arange(10.0))
    assert trend.z == pytest.approx(44 / math.sqrt(125))  # S = 45, Var = 10 * 9 * 25 / 18
    assert trend.p == pytest.approx(8.3e-5, rel=0.01)


@given(numbers)
def test_that_the_line_is_numpys(values):
    slope, _ = np.polyfit(np.arange(len(values)), values, 1)
    assert fitted_line(np.array(values)).slope == pytest.approx(slope, abs=1e-9)


def test_that_the_error_of_a_line_is_known():
    line = fitted_line(np.array([0.0, 1.0, 0.0, 1.0]))  # slope .2, rest .8, .8 / 2 / 5
    assert line.slope == pytest.approx(0.2)
    assert line.error == pytest.approx(math.sqrt(0.8 / 2 / 5))
    assert line.r_squared == pytest.approx(0.2)


@pytest.mark.parametrize(("t", "freedom", "p"), [(2.228, 10, 0.05), (12.706, 1, 0.05), (3.747, 4, 0.02), (0.0, 5, 1.0)])
def test_that_students_p_is_that_of_the_tables(t, freedom, p):
    assert student_p(t, freedom) == pytest.approx(p, rel=2e-3)
    assert student_p(-t, freedom) == student_p(t, freedom)


def test_that_welch_is_the_textbooks():
    # Welch's own kind of example: means 20.1 and 24, variances 9 and 25, 10 and 15 values
    p = welch_p((20.0, 9.0, 10), (24.0, 25.0, 15))
    t, freedom = 4 / math.sqrt(0.9 + 25 / 15), (0.9 + 25 / 15) ** 2 / (0.81 / 9 + (25 / 15) ** 2 / 14)
    assert p == pytest.approx(student_p(t, freedom))
    assert welch_p((0.0, 1.0, 1), (5.0, 1.0, 9)) == 1.0
    assert welch_p((0.0, 0.0, 5), (1.0, 0.0, 5)) == 0.0


def test_that_the_sign_test_is_exact():
    assert sign_test_p(8, 0) == pytest.approx(2 / 256)
    assert sign_test_p(7, 1) == pytest.approx(2 * 9 / 256)
    assert sign_test_p(4, 4) == 1.0
    assert sign_test_p(0, 0) == 1.0


def test_that_chi_square_is_that_of_the_tables():
    assert chi_square_p(np.array([30.0, 20.0]), np.array([25.0, 25.0])) == pytest.approx(0.1573, abs=1e-4)
    assert chi_square_p(np.array([10.0, 10.0, 10.0]), np.array([10.0, 10.0, 10.0])) == 1.0


@given(numbers)
def test_that_median_and_theil_sen_are_the_plain_ones(values):
    array = np.array(values)
    assert median(array) == np.median(array)
    slopes = [(b - a) / (j - i) for i, a in enumerate(values) for j, b in enumerate(values) if j > i]
    assert theil_sen(array) == pytest.approx(np.median(slopes))


def test_that_equal_values_share_their_rank_and_nan_has_none():
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    with_gap = ranks(np.array([3.0, np.nan, 1.0]))
    assert with_gap[[0, 2]].tolist() == [2.0, 1.0]
    assert math.isnan(with_gap[1])


def test_that_correlations_are_those_of_numpy_by_row():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(5, 8)), random.normal(size=(5, 8))
    expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(first, second, strict=True)]
    assert row_correlations(first, second) == pytest.approx(expected)
    assert math.isnan(row_correlations(np.ones((1, 4)), second[:1, :4])[0])


def test_that_spearman_sees_order_alone():
    first = np.array([[1.0, 2.0, 3.0, 4.0]])
    assert row_spearman(first, np.exp(3 * first))[0] == pytest.approx(1.0)
    assert row_spearman(first, -first)[0] == pytest.approx(-1.0)
