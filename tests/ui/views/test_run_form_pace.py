"""What the form says about how long the run will take."""

import pytest
from PySide6.QtCore import Qt

from grpo_gui.training.config import TrainConfig
from grpo_gui.training.presets import PRESETS
from grpo_gui.ui.models.run_pace import UNKNOWN
from grpo_gui.ui.views.run_form import RunForm
from tests.ui.stored_run import store_steps, stored_run


@pytest.fixture
def form(stored, qtbot):
    result = RunForm(stored, lambda *request: None, lambda *request: None, lambda *request: None)
    qtbot.addWidget(result)
    return result


def retype(qtbot, line, text):
    line.selectAll()
    qtbot.keyClick(line, Qt.Key.Key_Delete)
    qtbot.keyClicks(line, text)


def test_that_the_pace_of_an_earlier_run_with_these_settings_tells_how_long_it_takes(form, writer, qtbot):
    run_id = stored_run(writer, PRESETS["default"].config)
    store_steps(writer, run_id, 1, 8)  # one second each
    form.show()
    qtbot.waitUntil(lambda: f"About 2 min at the pace of run {run_id}." in form.card.note.text())
    assert "took 1 s a step" in form.card.note.toolTip()
    retype(qtbot, form.card.inputs["steps"].field, "30")
    assert "About 30 s" in form.card.note.text()


def test_that_a_setting_that_costs_time_makes_it_unknown(form, writer, qtbot):
    store_steps(writer, stored_run(writer, PRESETS["default"].config), 1, 8)
    form.show()
    qtbot.waitUntil(lambda: "About" in form.card.note.text())
    retype(qtbot, form.card.inputs["num_generations"].field, "16")
    qtbot.waitUntil(lambda: UNKNOWN in form.card.note.text())
    assert form.card.note.toolTip() == ""


def test_that_without_an_earlier_run_nothing_is_guessed(form, writer, qtbot):
    store_steps(writer, stored_run(writer, TrainConfig(model="other")), 1, 8)
    form.show()
    qtbot.waitUntil(lambda: UNKNOWN in form.card.note.text())
    assert "About" not in form.card.note.text()
