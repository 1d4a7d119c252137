import pytest
from PySide6.QtCore import Qt

from grpo_gui.commands import SetHyperparameters
from grpo_gui.store.records import ChangeRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.hyperparameters import current_values
from grpo_gui.ui.widgets.hyperparameter_fields import HyperparameterFields


@pytest.fixture
def fields(qtbot):
    result = HyperparameterFields()
    qtbot.addWidget(result)
    result.set_values(TrainConfig(), current_values(TrainConfig(), []))
    result.set_next_step(144)
    result.show()
    return result


def retype(qtbot, line, text):
    line.selectAll()
    qtbot.keyClicks(line, text)


def test_that_nothing_can_be_applied_or_reverted_at_first(fields):
    assert fields.fields["learning_rate"].line.text() == "3.0e-4"
    assert not fields.apply.isEnabled()
    assert not fields.revert.isEnabled()
    assert fields.apply.text() == "Apply at next step"


def test_that_an_edit_shows_the_old_value_and_the_step_at_which_it_will_hold(fields, qtbot):
    field = fields.fields["beta"]
    retype(qtbot, field.line, "0.05")
    assert field.line.property("state") == "edited"
    assert field.old.text() == "0.020 →"
    assert fields.apply.text() == "Apply at step 144"
    with qtbot.waitSignal(fields.asked) as signal:
        qtbot.mouseClick(fields.apply, Qt.MouseButton.LeftButton)
    assert signal.args == [SetHyperparameters(beta=0.05)]


def test_that_an_applied_edit_is_no_edit_any_more_and_then_in_force(fields, qtbot):
    retype(qtbot, fields.fields["beta"].line, "0.05")
    qtbot.keyClick(fields.fields["beta"].line, Qt.Key.Key_Return)
    assert not fields.apply.isEnabled()
    changed = current_values(TrainConfig(), [ChangeRecord(144, "beta", 0.02, 0.05)])
    fields.set_values(TrainConfig(), changed)
    assert fields.fields["beta"].line.text() == "0.050"
    assert fields.fields["beta"].old.text() == ""
    assert not fields.revert.isEnabled()


def test_that_revert_takes_all_edits_back(fields, qtbot):
    retype(qtbot, fields.fields["beta"].line, "9")
    retype(qtbot, fields.fields["temperature"].line, "x")
    qtbot.mouseClick(fields.revert, Qt.MouseButton.LeftButton)
    assert fields.fields["beta"].line.text() == "0.020"
    assert fields.fields["temperature"].line.text() == "1.00"
    assert not fields.fields["temperature"].sentence.isVisible()


@pytest.mark.parametrize("text", ["-1", "abc", "", "nan", "1e400"])
def test_that_a_bad_value_shows_its_sentence_and_cannot_be_applied(fields, qtbot, text):
    field = fields.fields["temperature"]
    retype(qtbot, fields.fields["beta"].line, "0.05")
    retype(qtbot, field.line, text) if text else field.line.clear()
    assert field.sentence.isVisible()
    assert field.sentence.text().endswith(".")
    assert field.line.property("state") == "bad"
    assert not fields.apply.isEnabled()
    with qtbot.assertNotEmitted(fields.asked):
        qtbot.keyClick(field.line, Qt.Key.Key_Return)


def test_that_up_and_down_move_the_number(fields, qtbot):
    rate, high = fields.fields["learning_rate"].line, fields.fields["epsilon_high"].line
    qtbot.keyClick(rate, Qt.Key.Key_Up)
    assert rate.text() == "3.3e-4"
    qtbot.keyClick(rate, Qt.Key.Key_Down)
    assert rate.text() == "3.0e-4"
    qtbot.keyClick(high, Qt.Key.Key_Up)
    assert high.text() == "0.21"


def test_that_an_edit_survives_news_about_another_field(fields, qtbot):
    retype(qtbot, fields.fields["beta"].line, "0.05")
    fields.set_values(TrainConfig(), current_values(TrainConfig(), [ChangeRecord(5, "epsilon", 0.2, 0.1)]))
    assert fields.fields["beta"].line.text() == "0.05"
    assert fields.fields["epsilon"].line.text() == "0.10"


def test_that_an_empty_upper_clip_means_the_lower_one(fields):
    assert fields.fields["epsilon_high"].line.placeholderText() == "0.20"
    assert fields.fields["epsilon_high"].problem is None


def test_that_an_emptied_epsilon_high_is_the_same_as_epsilon_again(fields, qtbot):
    changed = current_values(TrainConfig(), [ChangeRecord(144, "epsilon_high", None, 0.28)])
    fields.set_values(TrainConfig(), changed)
    fields.fields["epsilon_high"].line.selectAll()
    qtbot.keyClick(fields.fields["epsilon_high"].line, Qt.Key.Key_Delete)
    assert fields.fields["epsilon_high"].problem is None
    with qtbot.waitSignal(fields.asked) as signal:
        qtbot.mouseClick(fields.apply, Qt.MouseButton.LeftButton)
    assert signal.args == [SetHyperparameters(resets_epsilon_high=True)]
