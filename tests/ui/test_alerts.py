from dataclasses import replace

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from grpo_gui.commands import Pause
from grpo_gui.diagnose.reading import Severity
from grpo_gui.events import RunStatus
from grpo_gui.ui.alerts import Alerts, DesktopNotifier
from tests.ui.broken_run import finding
from tests.ui.fakes import FakeHandle, run_record


class FakeWatch(QObject):
    found = Signal(int, object)


class FakeNotifier:
    def __init__(self):
        self.shown = []
        self.opened = None

    def notify(self, title, text, opened):
        self.shown.append((title, text))
        self.opened = opened


@pytest.fixture
def window(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def parts(workspace, launcher, window, fake_reader):
    run = run_record(3, status=RunStatus.RUNNING)
    fake_reader.records[3] = run
    launcher.attachable[3] = FakeHandle(3)
    workspace.runs = [run]
    workspace.select_run(3)
    watch, notifier = FakeWatch(), FakeNotifier()
    alerts = Alerts(workspace, watch, window, notifier)
    return watch, notifier, launcher.attachable[3], alerts


BROKEN = finding("not_finite", severity=Severity.SEVERE, pauses=True, headline="The loss is not a number.")


def test_that_a_severe_finding_is_told_while_the_window_is_behind(parts, workspace, qtbot):
    watch, notifier, _, _ = parts
    watch.found.emit(3, BROKEN)
    assert notifier.shown == [("Dead groups (run 3, step 9)", "The loss is not a number.")]
    with qtbot.waitSignal(workspace.finding_asked) as asked:
        notifier.opened()
    assert asked.args == ["not_finite"]


def test_that_a_warning_is_no_message(parts):
    watch, notifier, _, _ = parts
    watch.found.emit(3, finding())
    assert notifier.shown == []


def test_that_nobody_is_told_who_looks_at_the_window(parts, window, monkeypatch):
    watch, notifier, _, _ = parts
    monkeypatch.setattr(window, "isActiveWindow", lambda: True)
    watch.found.emit(3, BROKEN)
    assert notifier.shown == []


def test_that_a_broken_run_goes_on_unless_the_user_switched_the_pause_on(parts):
    watch, _, handle, _ = parts
    watch.found.emit(3, BROKEN)
    assert handle.commands == []


def test_that_a_broken_run_is_paused_where_the_user_switched_it_on(parts, workspace, qtbot):
    watch, _, handle, _ = parts
    workspace.use_settings(replace(workspace.settings, pause_on_broken=True))
    with qtbot.waitSignal(workspace.problem) as said:
        watch.found.emit(3, BROKEN)
    assert handle.commands == [Pause()]
    assert said.args[0].endswith("The loss is not a number.")


def test_that_other_findings_never_pause(parts, workspace):
    watch, _, handle, _ = parts
    workspace.use_settings(replace(workspace.settings, pause_on_broken=True))
    watch.found.emit(3, finding(severity=Severity.SEVERE))
    assert handle.commands == []


def test_that_a_run_which_the_window_does_not_reach_is_left_alone(parts, workspace):
    watch, _, handle, _ = parts
    workspace.use_settings(replace(workspace.settings, pause_on_broken=True))
    watch.found.emit(4, BROKEN)
    assert handle.commands == []


def test_that_a_desktop_without_a_tray_is_asked_to_blink_instead(window, caplog):
    notifier = DesktopNotifier(window)
    with caplog.at_level("INFO"):
        notifier.notify("Running away", "The model has moved far.", lambda: None)
        notifier.notify("Running away", "The model has moved far.", lambda: None)
    assert [record.message for record in caplog.records].count(
        "This desktop has no tray, so its messages cannot be used; the task bar is asked to blink instead."
    ) == 1
