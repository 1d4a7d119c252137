"""Plots over a run that looks like a real one."""

import pytest

from grpo_gui.events import EvalCompleted, HyperparameterChanged, StepCompleted
from grpo_gui.ui.models.run_series import RunSeries
from grpo_gui.ui.plots.plots_panel import PlotsPanel
from tests.ui import synthetic_run


def synthetic_series(steps=120, **options) -> RunSeries:
    run = RunSeries(1)
    for event in synthetic_run.events(1, steps, **options):
        if isinstance(event, StepCompleted | EvalCompleted):
            run.take(event)
        elif isinstance(event, HyperparameterChanged):
            run.take_change(event)
    return run


def drawn_panel(qtbot) -> PlotsPanel:
    """Ten plots on screen with 120 steps; the clock stands still: draw with `clock.draw_all()`."""
    result = PlotsPanel()
    qtbot.addWidget(result)
    result.resize(1000, 760)
    with qtbot.waitExposed(result):
        result.show()
    result.clock.stop()
    result.set_run(synthetic_series(), synthetic_run.CONFIG)
    result.clock.draw_all()
    result.update_words()
    return result


@pytest.fixture
def panel(qtbot):
    return drawn_panel(qtbot)
