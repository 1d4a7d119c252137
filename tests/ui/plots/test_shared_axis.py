import pytest

from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.models.step_table import AxisKind
from grpo_gui.ui.plots.plot_area import PlotArea
from grpo_gui.ui.plots.shared_axis import SharedAxis
from tests.ui.models.test_run_series import stored


@pytest.fixture
def axis(qapp):
    run = RunSeries(1)
    run.absorb(*stored(1, 1000, reward=0.5, step_time=0.1))
    result = SharedAxis()
    result.set_run(run)
    return result


def test_that_following_shows_the_whole_run_and_grows_with_it(axis):
    assert axis.range[0] == 0
    assert 1000 < axis.range[1] < 1200
    axis.run.absorb(*stored(1001, 2000, reward=0.5))
    axis.refresh()
    assert axis.range[1] > 2000


def test_that_zooming_ends_following_and_keeps_the_place_under_the_mouse(axis, qtbot):
    with qtbot.waitSignal(axis.following_changed) as signal:
        axis.zoom(0.5, 200.0)
    assert signal.args == [False]
    low, high = axis.range
    assert high - low < 600
    assert low < 200 < high
    before = axis.range
    axis.refresh()
    assert axis.range == before


def test_that_zooming_in_ends_at_a_few_steps(axis):
    for _ in range(100):
        axis.zoom(0.5, 500.0)
    assert axis.range[1] - axis.range[0] == pytest.approx(4)


def test_that_panning_never_loses_the_run(axis):
    axis.zoom(0.1, 500)
    axis.pan(1e9)
    assert axis.range[0] < 1000
    axis.pan(-1e9)
    assert axis.range[1] > 0


def test_that_the_same_steps_stay_in_view_when_the_axis_counts_something_else(axis):
    axis.zoom(0.5, 300)
    steps = axis.step_range()
    axis.set_kind(AxisKind.SAMPLES)
    assert axis.range == pytest.approx((64 * steps[0], 64 * steps[1]), rel=1e-6)
    assert axis.step_range() == pytest.approx(steps)


def test_that_a_place_names_its_nearest_step(axis):
    axis.set_kind(AxisKind.SAMPLES)
    assert axis.step_at(64 * 100 + 10) == 100
    assert axis.step_at(-5) == 1
    assert axis.step_at(1e9) == 1000


def test_that_an_empty_run_has_no_step_anywhere(qapp):
    axis = SharedAxis()
    assert axis.step_at(3.0) is None
    axis.move_cursor(1)
    assert axis.cursor_step is None
    axis.zoom(0.5, 3.0)
    axis.pan(2.0)
    assert axis.range[0] < axis.range[1]


def test_that_the_cursor_begins_at_the_newest_step_and_stays_inside(axis):
    axis.move_cursor(-1)
    assert axis.cursor_step == 999
    axis.move_cursor(50)
    assert axis.cursor_step == 1000


def test_that_marking_a_step_out_of_view_brings_it_into_view(axis):
    axis.zoom(0.05, 100)
    axis.mark(900)
    assert axis.range[0] <= 900 <= axis.range[1]


def test_that_a_growing_run_does_not_move_the_plots_before_they_draw_it(axis, qtbot):
    """Else every plot is painted twice a step: for the longer axis, and for the new points."""
    area = PlotArea(axis)
    qtbot.addWidget(area)
    axis.run.absorb(*stored(1001, 2000, reward=0.5))
    with qtbot.assertNotEmitted(axis.range_changed), qtbot.waitSignal(axis.range_grown):
        axis.refresh()
    assert area.getViewBox().viewRange()[0][1] < 1200
    area.take_growth()
    assert area.getViewBox().viewRange()[0] == pytest.approx(list(axis.range))
