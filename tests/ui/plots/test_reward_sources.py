"""Which curves the plots have: sources of the reward, and what runs made elsewhere recorded."""

import numpy as np

from grpo_gui.store.records import SeriesPoints, StepTotals
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.plots.specs import SPECS, reward_sources


def run_with(*names):
    run = RunSeries(1)
    steps = np.array([1, 2])
    points = [SeriesPoints(name, "", steps, np.array([0.1, 0.2])) for name in names]
    empty = np.zeros(2, dtype=np.int64)
    run.absorb(points, StepTotals(steps, steps, steps * 1.0, empty, empty, np.zeros((2, 27), dtype=np.int64)))
    return run


def test_that_a_single_source_would_only_repeat_the_reward():
    assert reward_sources(run_with("reward", "rewards/exact/mean")) == []


def test_that_several_sources_have_a_curve_each():
    names = ("reward", "rewards/exact/mean", "rewards/human/mean")
    assert reward_sources(run_with(*names)) == ["exact", "human"]


def test_that_late_ratings_have_a_curve_where_no_step_has_a_reward():
    assert reward_sources(run_with("rewards/human/mean")) == ["human"]


def layers_of(key, run):
    spec = next(spec for spec in SPECS if spec.key == key)
    return [type(layer).__name__ for layer in spec.layers(run, None)]


def test_that_the_largest_kl_has_a_curve_only_where_it_was_recorded():
    assert layers_of("kl", run_with("kl")) == ["LineLayer"]
    assert layers_of("kl", run_with("kl", "kl/max")) == ["LineLayer", "LineLayer"]


def test_that_the_time_of_a_step_is_a_line_where_its_parts_are_not_known():
    assert layers_of("time", run_with("step_time")) == ["LineLayer"]
    assert layers_of("time", run_with("step_time", "time/update")) == ["StackLayer"]
