import math

import pytest

from grpo_gui.ui import formatting


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (1.005, {}, "1.00"),
        (-1.05, {}, "\u22121.05"),
        (0.72, {"sign": True}, "+0.72"),
        (-0.001, {}, "0.00"),
        (12345.6, {"digits": 0}, "12\u2009346"),
        (None, {}, "\u2013"),
        (math.nan, {}, "\u2013"),
        (-math.inf, {}, "\u2212\u221e"),
    ],
)
def test_that_numbers_have_fixed_digits_a_real_minus_and_no_nan(value, options, text):
    assert formatting.number(value, **options) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.123456, "0.123"), (123.456, "123"), (3e-4, "3.00e\u22124"), (2.5e7, "2.50e7"), (None, "\u2013")],
)
def test_that_significant_digits_switch_to_powers_of_ten(value, text):
    assert formatting.significant(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (14, "14 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (59.6, "1 min 0 s")]
)
def test_that_durations_show_their_two_largest_units(seconds, text):
    assert formatting.duration(seconds) == text


def test_that_counts_and_shares_are_written_for_people():
    assert formatting.count(12800) == "12\u2009800"
    assert formatting.percent(0.0321) == "3.2 %"
    assert formatting.percent(None) == "\u2013"


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0 ms"), (0.0404, "40 ms"), (0.41, "0.4 s"), (12.54, "12.5 s")])
def test_that_short_times_are_told_in_milliseconds(seconds, text):
    assert formatting.seconds_text(seconds) == text
