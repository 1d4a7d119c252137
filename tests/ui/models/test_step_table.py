import numpy as np
import pytest

from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.step_table import AxisKind, StepTable, advantage_counts
from tests.ui.fakes import group, step_completed
from tests.ui.models.test_run_series import stored


@pytest.fixture
def table() -> StepTable:
    run = RunSeries(1)
    run.absorb(*stored(1, 10, step_time=0.5))
    return run.table


def test_that_samples_and_seconds_of_training_are_counted_from_the_start(table):
    assert table.end(AxisKind.SAMPLES) == 640
    assert table.end(AxisKind.TIME) == pytest.approx(5.0)
    assert table.to_axis(AxisKind.SAMPLES, np.array([0.0, 2.5])).tolist() == [0, 160]


def test_that_a_place_on_an_axis_leads_back_to_its_step(table):
    steps = np.array([0.0, 1.5, 10.0])
    for kind in AxisKind:
        np.testing.assert_allclose(table.to_steps(kind, table.to_axis(kind, steps)), steps)


def test_that_the_clock_stands_in_where_a_run_has_no_step_times():
    run = RunSeries(1)
    run.absorb(*stored(1, 10, reward=0.5))
    assert run.table.end(AxisKind.TIME) == pytest.approx(0.9)


def test_that_a_live_step_adds_its_completions_and_its_time(table):
    table.add(step_completed(1, 11, (group(0), group(1))), 0.25)
    assert table.end(AxisKind.SAMPLES) == 648
    assert table.end(AxisKind.TIME) == pytest.approx(5.25)
    assert table.newest_counts(1).sum() == 8


def test_that_histograms_of_spans_add_up_to_all_completions(table):
    counts = table.counts_between(np.array([0.0, 3.0, 4.5, 10.0]))
    assert counts.sum(axis=1).tolist() == [192, 64, 384]
    assert table.newest_counts(99).sum() == 640


def test_that_advantages_outside_the_range_count_in_the_end_bins():
    counts = advantage_counts([-9.0, 0.0, 9.0, float("nan")])
    assert (counts[0], counts[13], counts[26], counts.sum()) == (1, 1, 1, 3)
