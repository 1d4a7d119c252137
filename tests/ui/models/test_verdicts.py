import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.events import EvalCompleted
from grpo_gui.ui.models import verdicts
from grpo_gui.ui.models.metric_series import MetricSeries
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.shown_step import of_event
from tests.ui import synthetic_run
from tests.ui.fakes import completion, group, step_completed


def series(values, stride=10):
    curve = MetricSeries("eval/reward")
    curve.extend(stride * np.arange(1, len(values) + 1), np.array(values, dtype=float))
    return curve


def test_that_a_clear_rise_is_told_with_its_interval():
    change = verdicts.change_of(series([0.50, 0.51, 0.52, 0.53, 0.54, 0.551]))
    assert change.words == "+0.05 in 50 steps (likely +0.05 to +0.05)"


def test_that_a_change_that_could_be_chance_is_said_to_be_so():
    change = verdicts.change_of(series([0.5, 0.7, 0.4, 0.6, 0.5, 0.6]))
    assert change.words.endswith("within the noise")


def test_that_two_points_give_a_change_without_an_interval():
    assert verdicts.change_of(series([0.5, 0.8])).words == "+0.30 in 10 steps"


def test_that_one_point_gives_no_change():
    assert verdicts.change_of(series([0.5])) is None


def test_that_only_the_last_fifty_steps_count():
    assert verdicts.change_of(series([9.0] * 10 + [0.5] * 6)).change == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 10_000))
def test_that_the_interval_agrees_with_the_textbook_formula(seed):
    y = np.random.default_rng(seed).normal(size=6)
    x = 10.0 * np.arange(6)
    slope, covariance = np.polyfit(x, y, 1)[0], np.polyfit(x, y, 1, cov=True)[1]
    change = verdicts.change_of(series(y))
    assert change.change == pytest.approx(50 * slope)
    assert change.margin == pytest.approx(50 * 2.776 * math.sqrt(covariance[0, 0]))


def test_that_the_reward_of_training_stands_in_without_evaluations():
    run = RunSeries(1)
    run.take(step_completed(1, 1, reward=0.4))
    cell = verdicts.learning(run)
    assert (cell.headline, cell.unit) == ("0.40", "reward in training")


def test_that_the_held_out_reward_is_told_once_there_is_one():
    run = RunSeries(1)
    run.take(EvalCompleted(1, 0, 0.0, (("eval/reward", 0.61),)))
    cell = verdicts.learning(run)
    assert (cell.headline, cell.unit) == ("0.61", "held-out reward")


def held_out(values):
    run = RunSeries(1)
    for place, value in enumerate(values):
        run.take(EvalCompleted(1, 10 * place, 0.0, (("eval/reward", value),)))
    return verdicts.learning(run)


@pytest.mark.parametrize(
    "values",
    [
        [0.7, 0.72, 0.0, 0.0],  # the line over a sudden fall fits badly
        [0.7, 0.1] + [0.0] * 8,  # and long after it is level
        [0.7, 0.6, 0.5, 0.4, 0.35, 0.33, 0.34, 0.33, 0.34, 0.33, 0.34],
    ],
)
def test_that_a_run_that_fell_since_its_start_says_so(values):
    cell = held_out(values)
    assert (cell.sentence, cell.tone) == ("down from 0.70 at the start", "warn")


@pytest.mark.parametrize(
    "values",
    [
        [0.7, 0.8, 0.66, 0.75, 0.64],  # as far as it goes up and down anyway
        [0.7, 0.75, 0.72, 0.71, 0.73],  # it did not fall
        [0.7, 0.0, 0.1, 0.2, 0.3, 0.4],  # it fell, and it rises
        [0.7, 0.0, 0.0],  # too early to say what is usual
    ],
)
def test_that_noise_and_a_recovery_are_no_fall_since_the_start(values):
    assert "at the start" not in held_out(values).sentence


def test_that_the_signal_counts_groups_that_teach():
    run = RunSeries(1)
    run.take(step_completed(1, 1, frac_reward_zero_std=0.25, **{"dead_groups/all_right": 0.25}))
    cell = verdicts.signal(run)
    assert cell.headline == "75 %"
    assert cell.sentence == "in 1 steps: 25 % all right"


def test_that_values_that_are_not_finite_are_said_aloud():
    run = RunSeries(1)
    run.take(step_completed(1, 1, loss=math.nan, grad_norm=math.inf))
    cell = verdicts.signal(run)
    assert (cell.headline, cell.tone) == ("2", "bad")
    assert cell.sentence == "loss, grad_norm: see the crosses"


def test_that_the_output_counts_right_distinct_and_truncated():
    samples = (completion(0, 1.0, 0.5, "9.9"), completion(1, 0.0, -0.5, "9.11", truncated=True))
    event = step_completed(1, 1, (group(0), synthetic_group(samples)))
    cell = verdicts.output(of_event(event))
    assert cell.headline == "3 of 6"
    assert cell.sentence == "1.5 distinct of 3 per group, 1 truncated"


def test_that_completions_without_an_answer_are_only_counted():
    samples = tuple(completion(i, 1.0, 0.0, correct=None) for i in range(2))
    cell = verdicts.output(of_event(step_completed(1, 1, (synthetic_group(samples),))))
    assert (cell.headline, cell.unit) == ("2", "completions in the last step")


def test_that_every_cell_has_words_before_the_first_step():
    run = RunSeries(1)
    for cell in (verdicts.learning(run), verdicts.signal(run), verdicts.output(None)):
        assert cell.sentence == "no step yet"


def synthetic_group(samples):
    return synthetic_run.GroupSample(1, "compare", "p", "a", (1,), samples)


def test_that_a_real_looking_run_gets_all_three_cells():
    run, rng = RunSeries(1), random.Random(0)
    event = None
    for step in range(1, 31):
        event = synthetic_run.step_event(1, step, rng)
        run.take(event)
    assert verdicts.learning(run).sentence.startswith("+0.")
    assert "%" in verdicts.signal(run).headline
    assert verdicts.output(of_event(event)).unit == "right in the last step"


def test_that_a_run_without_completions_says_so_instead_of_waiting():
    assert verdicts.output(None, 5).sentence == "no completions recorded"
    assert verdicts.output(None).sentence == "no step yet"
