import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from grpo_gui.commands import HandOver, Stop
from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.closing import CloseGuard
from tests.ui.fakes import step_completed


@pytest.fixture
def window(qtbot):
    result = QWidget()
    qtbot.addWidget(result)
    return result


@pytest.fixture
def guard(workspace, window):
    return CloseGuard(workspace, window)


@pytest.fixture
def training(workspace, guard, pump, qtbot):
    with qtbot.waitSignal(workspace.run_selected):
        workspace.start(TrainConfig())
    for event in (TrainerStatus(1, RunStatus.RUNNING, 0), step_completed(1, 1)):
        pump.put(event)
    pump.drain()
    return workspace.handle


def answer(text):
    """Press the button with this text in the question that is about to open."""

    def press():
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        next(button for button in box.buttons() if text in button.text()).click()

    QTimer.singleShot(0, press)


def end(pump, status):
    pump.put(TrainerStatus(1, status, 2))
    pump.drain()


def test_that_nothing_is_asked_while_nothing_trains(guard):
    assert not guard.asks()


def test_that_stopping_waits_for_the_trainer_and_then_lets_the_window_close(guard, training, pump, qtbot):
    answer("Stop")
    assert guard.asks()
    assert training.commands == [Stop()]
    with qtbot.waitSignal(guard.may_close):
        end(pump, RunStatus.STOPPED)


def test_that_keeping_on_in_the_background_waits_for_that_process(guard, training, pump, launcher, qtbot):
    answer("background")
    assert guard.asks()
    assert training.commands == [HandOver()]
    with qtbot.waitSignal(guard.may_close):
        end(pump, RunStatus.HANDED_OVER)
    assert launcher.background == [1]


def test_that_cancel_leaves_everything_as_it_is(guard, training):
    answer("Cancel")
    assert guard.asks()
    assert training.commands == []
    assert not guard.is_waiting


def test_that_a_run_that_finishes_before_the_hand_over_lets_the_window_close(guard, training, pump, launcher, qtbot):
    answer("background")
    guard.asks()
    with qtbot.waitSignal(guard.may_close):
        end(pump, RunStatus.FINISHED)
    assert launcher.background == []


def test_that_closing_again_while_it_saves_may_leave_at_once(guard, training):
    answer("Stop")
    guard.asks()
    answer("Close now")
    assert not guard.asks()


def test_that_a_background_process_that_does_not_start_keeps_the_window_open(guard, training, pump, launcher, qtbot):
    def fail(run_id):
        raise OSError("no process")

    launcher.start_in_background = fail
    answer("background")
    guard.asks()
    with qtbot.waitSignal(guard._workspace.problem):
        end(pump, RunStatus.HANDED_OVER)
    assert not guard.is_waiting
    assert not guard.asks()
