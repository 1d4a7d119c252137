import pytest
from PySide6.QtWidgets import QPushButton

from grpo_gui.commands import Pause, Resume, SaveSnapshot, Step, Stop
from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.transport import Transport
from tests.ui.fakes import run_record


@pytest.fixture
def transport(workspace):
    result = Transport(workspace)
    result.set_form(is_open=True, is_valid=True)
    return result


def enabled(transport):
    actions = {
        "start": transport.start,
        "pause": transport.pause,
        "step": transport.step,
        "stop": transport.stop,
        "background": transport.background,
    }
    return {name for name, action in actions.items() if action.isEnabled()}


@pytest.fixture
def training(workspace, transport, pump, qtbot):
    with qtbot.waitSignal(workspace.run_selected):
        workspace.start(TrainConfig())
    become(pump, RunStatus.RUNNING)
    return workspace.handle


def become(pump, status):
    pump.put(TrainerStatus(1, status, 1))
    pump.drain()


def test_that_a_valid_form_can_be_started_or_stepped(transport):
    assert enabled(transport) == {"start", "step"}


def test_that_an_invalid_form_can_not(transport):
    transport.set_form(is_open=True, is_valid=False)
    assert enabled(transport) == set()


def test_that_start_hands_the_form_its_wish(transport, qtbot):
    with qtbot.waitSignal(transport.start_requested) as caught:
        transport.start.trigger()
    assert caught.args == [False]
    with qtbot.waitSignal(transport.start_requested) as caught:
        transport.step.trigger()
    assert caught.args == [True]


def test_that_a_running_trainer_can_be_paused_stopped_and_handed_over(transport, training):
    assert enabled(transport) == {"pause", "stop", "background"}
    transport.pause.trigger()
    transport.stop.trigger()
    assert training.commands == [Pause(), Stop()]


def test_that_a_paused_trainer_can_be_resumed_or_stepped(transport, training, pump):
    become(pump, RunStatus.PAUSED)
    assert enabled(transport) == {"pause", "step", "stop", "background"}
    assert transport.pause.text() == "Resume"
    transport.pause.trigger()
    transport.step.trigger()
    assert training.commands == [Resume(), Step()]


def test_that_space_pauses_but_presses_a_focused_button_instead(transport, training, qtbot):
    button = QPushButton("press me")
    qtbot.addWidget(button)
    pressed = []
    button.clicked.connect(lambda: pressed.append(1))
    button.show()
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    transport.toggle_pause()
    assert (pressed, training.commands) == ([1], [])
    button.clearFocus()
    transport.toggle_pause()
    assert training.commands == [Pause()]


def test_that_a_stopped_run_with_a_saved_state_can_be_continued(workspace, transport, launcher, fake_reader, qtbot):
    fake_reader.records[2] = run_record(2, status=RunStatus.STOPPED, state_path="somewhere", steps_done=3)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(2)
    transport.set_form(is_open=False, is_valid=True)
    assert transport.start.text() == "Continue"
    transport.start.trigger()
    assert launcher.started[0][1:] == (2, True)


def test_that_a_finished_run_leads_to_the_form(workspace, transport, fake_reader, qtbot):
    fake_reader.records[2] = run_record(2, status=RunStatus.FINISHED, state_path="somewhere")
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(2)
    transport.set_form(is_open=False, is_valid=True)
    assert transport.start.text() == "Start"
    with qtbot.waitSignal(workspace.new_run_requested):
        transport.start.trigger()


def test_that_ctrl_s_asks_a_live_trainer_for_a_snapshot(transport, training, pump):
    assert transport.snapshot.shortcut().toString() == "Ctrl+S"
    assert transport.snapshot.isEnabled()
    transport.snapshot.trigger()
    become(pump, RunStatus.PAUSED)
    transport.snapshot.trigger()
    assert training.commands == [SaveSnapshot(), SaveSnapshot()]


def test_that_without_a_trainer_there_is_no_snapshot_to_make(transport, workspace):
    assert not transport.snapshot.isEnabled()


@pytest.mark.parametrize(
    ("changes", "continuable"),
    [
        ({"state_path": None}, True),  # cut off before a state was saved: it begins anew
        ({"state_path": None, "parent_run_id": 3, "parent_step": 2}, False),  # a branch begins elsewhere
        ({"state_path": "/state", "parent_run_id": 3, "parent_step": 2}, True),
        ({"state_path": "/state", "steps_done": 120}, False),
        ({"state_path": "/state", "status": RunStatus.FINISHED}, False),
    ],
)
def test_that_a_run_that_was_cut_off_can_be_continued(transport, workspace, changes, continuable):
    workspace.runs = [run_record(1, **({"status": RunStatus.INTERRUPTED} | changes))]
    workspace.select_run(1)
    transport.set_form(is_open=False, is_valid=True)
    assert (transport.continuable_run() is not None) == continuable
