import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_gui.store.pyramid import SeriesPyramid

VALUES = st.one_of(st.floats(-1e6, 1e6, width=32), st.just(float("nan")), st.just(float("inf")))


def filled(values, *, x=None, part=None):
    pyramid = SeriesPyramid()
    values = np.asarray(values, dtype=np.float64)
    x = np.arange(len(values)) if x is None else np.asarray(x)
    for first in range(0, len(values), part or max(len(values), 1)):
        last = first + (part or len(values))
        pyramid.append(x[first:last], values[first:last])
    return pyramid


def finite(values):
    return np.where(np.isfinite(values), values, np.nan).astype(np.float32).astype(np.float64)


def ignoring_nan(function, values, empty):
    return function(values[~np.isnan(values)], initial=empty)


@settings(deadline=None)
@given(
    values=st.lists(VALUES, min_size=1, max_size=700),
    part=st.integers(1, 300),
    ends=st.tuples(st.integers(-5, 705), st.integers(-5, 705)),
    max_points=st.integers(2, 100),
    gaps=st.booleans(),
)
def test_that_extremes_and_points_are_those_of_the_series(values, part, ends, max_points, gaps):
    x = np.arange(len(values)) * 3 - 50 if gaps else np.arange(len(values))
    pyramid = filled(values, x=x, part=part)
    x0, x1 = sorted(ends)
    got_x, got_y = pyramid.query(x0, x1, max_points)
    kept = finite(np.array(values))
    places = np.searchsorted(x, got_x)
    assert np.array_equal(x[places], got_x)  # every drawn point is a point of the series
    assert np.array_equal(kept[places], got_y, equal_nan=True)
    assert np.all(np.diff(got_x) >= 0)
    wanted, drawn = kept[(x >= x0) & (x <= x1)], got_y[(got_x >= x0) & (got_x <= x1)]
    assert ignoring_nan(np.min, drawn, np.inf) == ignoring_nan(np.min, wanted, np.inf)
    assert ignoring_nan(np.max, drawn, -np.inf) == ignoring_nan(np.max, wanted, -np.inf)


def test_that_extremes_survive_in_a_series_of_several_chunks():
    rng = np.random.default_rng(0)
    values = rng.normal(size=700_000).astype(np.float32).astype(np.float64)
    pyramid = filled(values, part=99_991)
    for x0, x1 in [(0, 700_000), (261_000, 263_500), (5, 530_000), (524_288, 524_300)]:
        got_x, got_y = pyramid.query(x0, x1, 1500)
        inside = (got_x >= x0) & (got_x <= x1)
        assert got_y[inside].min() == values[x0 : x1 + 1].min()
        assert got_y[inside].max() == values[x0 : x1 + 1].max()
        assert len(got_x) <= 1500 + 200
    assert len(pyramid) == 700_000


def test_that_few_points_come_back_unchanged_with_a_gap_for_each_value_that_is_not_finite():
    pyramid = filled([1.0, float("nan"), 3.0, float("inf"), float("-inf"), 1e300])
    _, y = pyramid.query(-1, 10, 100)
    assert np.array_equal(y, [1, np.nan, 3, np.nan, np.nan, np.nan], equal_nan=True)


def test_that_the_neighbours_outside_of_the_range_are_drawn_too():
    x, _ = filled(np.arange(100.0)).query(40, 42, 100)
    assert x.tolist() == [39, 40, 41, 42, 43]


def test_that_a_range_between_two_points_gives_both_neighbours():
    x, _ = filled(np.arange(10.0)).query(4.2, 4.8, 100)
    assert x.tolist() == [4, 5]


def test_that_drawing_uses_nearly_all_of_the_points_that_are_allowed():
    x, _ = filled(np.random.default_rng(0).normal(size=200_000)).query(0, 200_000, 2000)
    assert 1500 < len(x) <= 2200


def test_that_an_empty_series_draws_nothing():
    x, y = SeriesPyramid().query(0, 10, 100)
    assert len(x) == len(y) == 0


def test_that_falling_x_is_refused():
    pyramid = filled([1.0, 2.0])
    with pytest.raises(ValueError, match="must not fall"):
        pyramid.append(np.array([0]), np.array([1.0]))
    with pytest.raises(ValueError, match="2 places for 1 values"):
        pyramid.append(np.array([5, 6]), np.array([1.0]))
