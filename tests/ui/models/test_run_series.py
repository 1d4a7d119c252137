import math
import random

import numpy as np
import pytest

from grpo_gui.events import EvalCompleted, HyperparameterChanged
from grpo_gui.store.records import ChangeRecord, SeriesPoints, StepTotals
from grpo_gui.ui.models.run_series import RunSeries
from tests.ui import synthetic_run
from tests.ui.fakes import step_completed


def stored(first, last, **curves):
    """Points and totals of steps first..last as the store gives them: 64 completions a step, 0.1 s apart."""
    steps = np.arange(first, last + 1)
    points = [SeriesPoints(name, "", steps, np.full(len(steps), value)) for name, value in curves.items()]
    counts = np.zeros((len(steps), 27), dtype=np.int64)
    counts[:, 13] = 64
    return points, StepTotals(steps, 2 * steps, 100 + 0.1 * steps, 64 * steps, 320 * steps, counts)


def test_that_live_steps_follow_those_of_the_store():
    run = RunSeries(1)
    run.absorb(*stored(1, 5, reward=0.2))
    run.take(step_completed(1, 6, reward=0.8))
    assert run.series("reward").steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert run.series("reward").last_value == 0.8
    assert run.newest_step == 6


def test_that_a_step_which_is_known_already_is_not_drawn_twice():
    run = RunSeries(1)
    run.absorb(*stored(1, 5, reward=0.2))
    run.take(step_completed(1, 5, reward=0.8))
    run.absorb(*stored(4, 5, reward=0.2))
    assert run.series("reward").values.tolist() == [0.2] * 5


def test_that_a_step_beyond_a_gap_waits_for_the_store():
    run = RunSeries(1)
    run.take(step_completed(1, 1))
    run.take(step_completed(1, 4, reward=0.4))
    assert run.needs_store
    assert run.newest_step == 1
    run.absorb(*stored(1, 3, reward=0.5))
    assert not run.needs_store
    assert run.series("reward").steps.tolist() == [1, 2, 3, 4]
    assert run.series("reward").values.tolist() == [0.5, 0.5, 0.5, 0.4]


def test_that_events_wait_while_the_store_may_lack_the_last_uncommitted_ones():
    run = RunSeries(1)
    run.absorb(*stored(1, 5, reward=0.2))
    run.wait_for_store()
    run.take(EvalCompleted(1, 7, 0.0, (("eval/reward", 0.9),)))
    run.take(step_completed(1, 8))
    run.absorb(
        [*stored(6, 7, reward=0.3)[0], SeriesPoints("eval/reward", "", np.array([5]), np.array([0.7]))],
        stored(6, 7)[1],
    )
    assert run.series("eval/reward").steps.tolist() == [5, 7]
    assert run.newest_step == 8


def test_that_an_evaluation_before_training_stands_at_step_zero():
    run = RunSeries(1)
    run.take(EvalCompleted(1, 0, 0.0, (("eval/reward", 0.5),)))
    assert run.series("eval/reward").steps.tolist() == [0]


def test_that_values_which_are_not_finite_are_gaps():
    run = RunSeries(1)
    run.take(step_completed(1, 1, loss=math.inf))
    run.take(step_completed(1, 2, loss=0.1))
    assert run.series("loss").gaps.tolist() == [1]
    assert np.isnan(run.series("loss").values[0])


def test_that_a_metric_without_points_is_an_empty_curve():
    curve = RunSeries(1).series("kl")
    assert len(curve) == 0
    assert curve.nearest(3) is None
    assert math.isnan(curve.last_smoothed(0.9))


def test_that_a_change_is_kept_once():
    run = RunSeries(1)
    run.changes = [ChangeRecord(9, "beta", 0.02, 0.04)]
    run.take_change(HyperparameterChanged(1, 9, "beta", 0.02, 0.04))
    run.take_change(HyperparameterChanged(1, 12, "beta", 0.04, 0.0))
    assert [change.step for change in run.changes] == [9, 12]


def test_that_the_nearest_point_is_found_on_either_side():
    run = RunSeries(1)
    for step in (10, 20):
        run.take(EvalCompleted(1, step, 0.0, (("eval/reward", step / 100),)))
    assert run.series("eval/reward").nearest(14) == (10, 0.1)
    assert run.series("eval/reward").nearest(16) == (20, 0.2)
    assert run.series("eval/reward").nearest(99) == (20, 0.2)


def test_that_a_smoothed_curve_goes_on_where_it_stopped():
    rng = random.Random(3)
    run, whole = RunSeries(1), RunSeries(1)
    for step in range(1, 40):
        event = synthetic_run.step_event(1, step, rng)
        run.take(event)
        whole.take(event)
        run.series("loss").curve(0, 100, 1000, 0.88)
    np.testing.assert_allclose(
        run.series("loss").curve(0, 100, 1000, 0.88).values, whole.series("loss").curve(0, 100, 1000, 0.88).values
    )
    assert run.series("loss").last_smoothed(0.88) == pytest.approx(whole.series("loss").last_smoothed(0.88))
