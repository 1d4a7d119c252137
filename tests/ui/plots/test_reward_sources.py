"""Which reward sources have curves of their own."""

import numpy as np

from grpo_gui.store.records import SeriesPoints, StepTotals
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.plots.specs import reward_sources


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
