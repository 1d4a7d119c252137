import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.store.records import ChangeRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.bar_columns import bar_columns, labelled, token_at, y_range, y_ticks
from grpo_gui.ui.models.clip_bounds import clip_bounds


def test_that_a_short_completion_has_a_bar_for_each_token():
    columns = bar_columns(np.array([0.1, -0.2, np.nan]), 300)
    assert [(column.token, column.value) for column in columns] == [(0, 0.1), (1, -0.2)]


def test_that_a_long_completion_keeps_its_largest_values():
    values = np.zeros(5000)
    values[3210] = -0.9
    columns = bar_columns(values, 400)
    assert len(columns) <= 400
    assert min(column.value for column in columns) == -0.9
    assert all(column.left + column.width <= 400.001 for column in columns)


def test_that_a_click_finds_the_token_of_the_bar():
    columns = bar_columns(np.arange(1.0, 11.0), 200)
    assert all(token_at(column.left + column.width / 2, 10, 200) == column.token for column in columns)
    assert token_at(-5, 10, 200) == 0
    assert token_at(5000, 10, 200) == 9


def test_that_the_axis_holds_values_and_bounds():
    low, high = y_range(np.array([-0.3, 0.05]), [0.18, -0.22])
    assert low < -0.3
    assert high > 0.18
    assert 0.0 in y_ticks(low, high)
    assert y_range(np.array([]), []) == (-0.05, 0.05)


def test_that_values_without_a_negative_one_stand_on_the_axis():
    assert y_range(np.array([0.2, 0.5]), [])[0] == 0.0


def test_that_labels_go_to_the_first_and_the_largest():
    columns = bar_columns(np.array([0.0, 0.1, -0.9, 0.0, 0.5, 0.2]), 300)
    assert [column.token for column in labelled(columns, labels=3)] == [0, 2, 4]


@given(st.lists(st.floats(-1, 1) | st.just(float("nan")), max_size=300), st.integers(10, 500))
def test_that_bars_stay_inside_the_plot(values, width):
    for column in bar_columns(np.array(values, dtype=float), width):
        assert column.left >= 0
        assert column.left + column.width <= width + 1e-6


@pytest.mark.parametrize(
    ("config", "bounds"),
    [
        (TrainConfig(), (0.8, 1.2)),
        (TrainConfig(epsilon_high=0.28), (0.8, 1.28)),
        (TrainConfig(loss_type="cispo", epsilon_high=5.0), (None, 5.0)),
        (TrainConfig(importance_sampling_level="sequence"), (None, None)),
    ],
)
def test_that_the_bounds_are_those_of_the_loss(config, bounds):
    assert clip_bounds(config, (), 1) == pytest.approx(bounds)


def test_that_a_change_holds_from_its_step_on():
    changes = (ChangeRecord(50, "epsilon", 0.2, 0.1),)
    assert clip_bounds(TrainConfig(), changes, 49) == pytest.approx((0.8, 1.2))
    assert clip_bounds(TrainConfig(), changes, 50) == pytest.approx((0.9, 1.1))
