import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox

from grpo_gui.errors import GrpoGuiError
from grpo_gui.settings import Settings
from grpo_gui.ui.settings_dialog import SettingsDialog


@pytest.fixture
def written():
    return []


@pytest.fixture
def dialog(qtbot, written):
    result = SettingsDialog(None, Settings(), ("cuda:0",), written.append)
    qtbot.addWidget(result)
    result.show()
    return result


def save_button(dialog):
    return dialog.buttons.button(QDialogButtonBox.StandardButton.Save)


def retype(qtbot, line, text):
    line.selectAll()
    qtbot.keyClicks(line, text)


def test_that_saved_settings_are_written_and_announced(dialog, written, qtbot):
    dialog.theme_box.setCurrentIndex(dialog.theme_box.findData("dark"))
    dialog.device.setCurrentText("cuda:0")
    retype(qtbot, dialog.threads, "4")
    retype(qtbot, dialog.eval_steps, "25")
    with qtbot.waitSignal(dialog.saved):
        qtbot.mouseClick(save_button(dialog), Qt.MouseButton.LeftButton)
    assert written == [Settings(theme="dark", device="cuda:0", threads=4, eval_steps=25)]
    assert not dialog.isVisible()


@pytest.mark.parametrize("text", ["0", "many"])
def test_that_a_bad_number_shows_its_sentence_and_cannot_be_saved(dialog, written, qtbot, text):
    retype(qtbot, dialog.threads, text)
    assert dialog.problem.isVisible()
    assert "Threads" in dialog.problem.text()
    assert not save_button(dialog).isEnabled()
    assert written == []


@pytest.mark.parametrize("name", ["", "runs.db"])
def test_that_a_database_that_is_a_folder_or_no_whole_path_cannot_be_saved(dialog, written, tmp_path, name):
    dialog.database.set_path(name or str(tmp_path))
    assert "The database" in dialog.problem.text()
    assert not save_button(dialog).isEnabled()
    dialog.database.set_path(str(tmp_path / "runs.db"))
    assert save_button(dialog).isEnabled()
    assert written == []


def test_that_a_file_that_cannot_be_written_is_told(qtbot):
    def fail(_):
        raise GrpoGuiError("The settings cannot be saved.")

    dialog = SettingsDialog(None, Settings(), (), fail)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.mouseClick(save_button(dialog), Qt.MouseButton.LeftButton)
    assert dialog.problem.text() == "The settings cannot be saved."
    assert dialog.isVisible()
