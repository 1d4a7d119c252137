"""Bands over seeds against numbers worked by hand and against their own properties."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_to_json
from grpo_gui.ui.models.seed_bands import groups_by_seed, seed_band, student_quantile
from tests.ui.fakes import run_record


def curve(steps, values):
    return np.array(steps, dtype=np.float64), np.array(values, dtype=np.float64)


def test_that_a_band_of_three_seeds_is_the_one_worked_by_hand():
    # Step 1: 1, 2, 3: mean 2, s = 1; step 2: 0, 0, 6: mean 2, s = sqrt((4 + 4 + 16) / 2) = 3.4641.
    # t(2) for 95 % is 4.302653, so the halves are 4.302653 / sqrt(3) times s: 2.484138 and 8.605306.
    band = seed_band([curve([1, 2], [1, 0]), curve([1, 2], [2, 0]), curve([1, 2], [3, 6])])
    assert band.places.tolist() == [1, 2]
    assert band.mean.tolist() == [2, 2]
    assert band.high == pytest.approx([4.484138, 10.605306], abs=1e-5)
    assert band.low == pytest.approx([-0.484138, -6.605306], abs=1e-5)


def test_that_a_band_ends_where_the_first_seed_ends_and_begins_where_the_last_one_begins():
    band = seed_band([curve([1, 2, 3, 4], [1, 1, 1, 1]), curve([2, 3], [3, 3])])
    assert band.places.tolist() == [2, 3]
    assert band.mean.tolist() == [2, 2]


def test_that_a_seed_without_a_point_at_a_place_is_interpolated_and_gaps_are_left_out():
    band = seed_band([curve([0, 2, 3, 4], [0, 2, np.nan, 4]), curve([0, 1, 4], [0, 3, 4])])
    assert band.places.tolist() == [0, 1, 2, 4]
    assert band.mean.tolist() == pytest.approx([0, (1 + 3) / 2, (2 + 10 / 3) / 2, 4])


def test_that_one_seed_has_no_interval_and_none_no_band():
    band = seed_band([curve([1, 2], [5, 6])])
    assert band.mean.tolist() == [5, 6]
    assert np.isnan(band.low).all()
    for nothing in ([], [curve([1], [1]), curve([], [])], [curve([1], [np.nan]), curve([1], [1])]):
        assert len(seed_band(nothing).places) == 0


@pytest.mark.parametrize(("freedom", "expected"), [(1, 12.7062), (2, 4.302653), (4, 2.776445), (9, 2.262157)])
def test_that_the_quantiles_are_those_of_the_tables(freedom, expected):
    assert student_quantile(0.95, freedom) == pytest.approx(expected, abs=1e-4)


@given(st.lists(st.lists(st.floats(-1e3, 1e3), min_size=5, max_size=5), min_size=2, max_size=5), st.floats(-10, 10))
def test_that_a_band_holds_its_mean_moves_with_its_curves_and_ignores_their_order(values, shift):
    steps = np.arange(5.0)
    curves = [(steps, np.array(one)) for one in values]
    band = seed_band(curves)
    assert np.all(band.low <= band.mean + 1e-9)
    assert np.all(band.mean <= band.high + 1e-9)
    assert band.mean == pytest.approx(np.mean(values, axis=0))
    moved = seed_band([(x, y + shift) for x, y in reversed(curves)])
    assert moved.mean == pytest.approx(band.mean + shift, abs=1e-6)
    assert moved.high - moved.low == pytest.approx(band.high - band.low, abs=1e-6)


def test_that_runs_are_grouped_when_only_the_seed_differs():
    def run(run_id, seed, **changes):
        return run_record(run_id, seed=seed, config=config_to_json(TrainConfig(seed=seed, **changes)))

    runs = [run(1, 0), run(2, 0, beta=0.5), run(3, 1), run(4, 7)]
    assert [[one.id for one in group] for group in groups_by_seed(runs)] == [[1, 3, 4], [2]]
    foreign = [run_record(5, config="not JSON"), run_record(6, config="not JSON")]
    assert [[one.id for one in group] for group in groups_by_seed(foreign)] == [[5], [6]]
    other = [run_record(7, config=json.dumps({"lr": 1})), run_record(8, config=json.dumps({"lr": 1}), program="TRL")]
    assert len(groups_by_seed(other)) == 2
