import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grpo_gui.ui.formatting import MINUS
from grpo_gui.ui.plots.ticks import follow_range, linear_ticks, log_ticks, padded, value_range

NUMBERS = st.floats(-1e9, 1e9)


@given(NUMBERS, NUMBERS, st.integers(2, 6))
def test_that_a_value_range_holds_its_values_and_has_at_least_two_ticks(low, high, max_ticks):
    assume(low == high or high - low > 1e-6 * max(abs(low), abs(high), 1e-3))
    low, high = min(low, high), max(low, high)
    shown = value_range(low, high, max_ticks=max_ticks)
    slack = 1e-5 * (shown[1] - shown[0])  # far less than a pixel
    assert shown[0] <= low + slack
    assert shown[1] >= high - slack
    ticks = linear_ticks(*shown, max_ticks)
    assert len(ticks) >= 2
    assert len({text for _, text in ticks}) == len(ticks)


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.38, 1.0, ["0.4", "0.6", "0.8", "1.0"]),
        (-0.1, 0.05, [f"{MINUS}0.10", f"{MINUS}0.05", "0.00", "0.05"]),
        (0, 20_000, ["0", "5k", "10k", "15k", "20k"]),
        (0, 3_000_000, ["0", "1M", "2M", "3M"]),
        (0, 150, ["0", "50", "100", "150"]),
        (0, 3e-5, ["0", "1e−5", "2e−5", "3e−5"]),
        (-1.5e-3, 0, ["−15e−4", "−10e−4", "−5e−4", "0"]),
    ],
)
def test_that_ticks_are_round_and_carry_the_digits_they_need(low, high, texts):
    assert [text for _, text in linear_ticks(low, high, 4)] == texts


def test_that_an_axis_of_logarithms_has_powers_of_ten():
    assert log_ticks(-2, 1, 4) == [(-2.0, "0.01"), (-1.0, "0.1"), (0.0, "1"), (1.0, "10")]


def test_that_a_short_axis_of_logarithms_still_has_two_ticks():
    assert [text for _, text in log_ticks(-0.8, -0.1, 4)] == ["0.2", "0.5"]


@given(st.floats(-9, 9), st.floats(0.1, 12), st.integers(2, 5))
def test_that_an_axis_of_logarithms_is_never_crowded(low, span, max_ticks):
    assert len(log_ticks(low, low + span, max_ticks)) <= max_ticks + 4


def test_that_an_axis_of_logarithms_that_holds_one_thousandfold_power_shows_smaller_powers():
    assert [text for _, text in log_ticks(-2.5, 2.5, 2)] == ["0.01", "1", "100"]


def test_that_a_flat_curve_at_zero_gets_a_range_above_it():
    assert value_range(0.0, 0.0) == (0.0, 1.0)


def test_that_values_which_must_be_seen_widen_the_range():
    assert value_range(0.5, 0.9, include=(0.0,))[0] == 0.0


def test_that_padding_is_a_share_of_the_span():
    assert padded((0.0, 10.0), 0.1) == (-1.0, 11.0)


@given(st.floats(1, 1e9))
def test_that_the_followed_range_holds_the_run_with_little_room_to_spare(end):
    low, high = follow_range(end)
    assert low == 0
    assert end < high <= max(1.3 * end, 10)


def test_that_the_followed_range_seldom_moves():
    ranges = {follow_range(step) for step in range(1, 1001)}
    assert len(ranges) < 80
