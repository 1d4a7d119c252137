import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.ui.models.thinned_curve import ThinnedCurve


def curve_of(parts):
    curve, place = ThinnedCurve(), 0
    for size in parts:
        x = np.arange(place, place + size)
        curve.append(x, np.sin(x))
        place += size
    return curve, place


@given(st.lists(st.integers(1, 150), min_size=1, max_size=8), st.integers(-5, 600), st.integers(1, 600))
def test_that_all_points_of_a_range_are_there_when_there_is_room(parts, low, width):
    curve, count = curve_of(parts)
    x, y = curve.query(low, low + width, 10_000)
    inside = set(range(max(low, 0), min(low + width + 1, count)))
    assert inside <= set(x.astype(int))
    assert set(x.astype(int)) - inside <= {min(low, count) - 1, max(low + width + 1, 0)}  # one neighbour on either side
    assert (np.diff(x) > 0).all()
    np.testing.assert_allclose(y, np.sin(x), atol=1e-6)


def test_that_a_range_among_the_newest_points_begins_with_their_neighbour():
    curve, _ = curve_of([128, 100])
    x, _ = curve.query(150, 160, 1000)
    assert x[0] == 149
    assert x[-1] == 161


def test_that_many_points_are_thinned_and_the_peak_stays():
    curve = ThinnedCurve()
    values = np.zeros(100_000)
    values[54_321] = 9.0
    curve.append(np.arange(100_000), values)
    x, y = curve.query(0, 100_000, 400)
    assert len(x) < 900
    assert y.max() == 9.0
