from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.training.config import TrainConfig
from grpo_gui.training.duration_forecast import about, is_as_fast, seconds_per_step


def test_that_the_pace_counts_evaluations_and_leaves_out_a_pause():
    took = np.array([0.2] * 9 + [0.9] + [0.2] * 9 + [3600.0])
    assert seconds_per_step(np.cumsum(took)) == pytest.approx((17 * 0.2 + 0.9) / 18)


@pytest.mark.parametrize("times", [[], [1.0], [1.0, 2.0, 3.0, 4.0, 5.0], [float("nan")] * 20])
def test_that_too_few_steps_tell_no_pace(times):
    assert seconds_per_step(np.array(times)) is None


@pytest.mark.parametrize(
    "changes", [{"num_generations": 16}, {"beta": 0.0}, {"model": "elsewhere"}, {"eval_steps": 0}, {"threads": 2}]
)
def test_that_settings_that_cost_time_make_runs_unlike(changes):
    assert not is_as_fast(TrainConfig(), replace(TrainConfig(), **changes))


def test_that_settings_that_cost_no_time_leave_runs_alike():
    other = replace(TrainConfig(), seed=9, steps=7, learning_rate=1e-5, beta=0.5, epsilon=0.1, preset="trl")
    assert is_as_fast(TrainConfig(), other)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.1, "1 s"), (7.6, "8 s"), (23.0, "25 s"), (88.0, "90 s"), (95.0, "2 min"), (3600, "60 min"), (9000, "2.5 h")],
)
def test_that_a_time_is_told_as_roughly_as_it_is_known(seconds, text):
    assert about(seconds) == f"About {text}"


@given(st.floats(1, 1e6), st.floats(1, 1e6))
def test_that_more_time_never_reads_as_less(one, other):
    def told(seconds):
        _, value, unit = about(seconds).split()
        return float(value) * {"s": 1, "min": 60, "h": 3600}[unit]

    short, long = sorted((one, other))
    assert told(short) <= told(long)
