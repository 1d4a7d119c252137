import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from grpo_gui.commands import Pause, SaveSnapshot
from grpo_gui.events import RunStatus, SnapshotSaved, TrainerStatus
from grpo_gui.ui import theme
from grpo_gui.ui.main_window import MainWindow, ViewMakers
from grpo_gui.ui.views.run_form import RunForm
from grpo_gui.ui.window_state import WindowState
from tests.ui.fakes import run_record, step_completed


@pytest.fixture
def searched():
    return []


@pytest.fixture
def make_window(workspace, tmp_path, searched, qtbot):
    def make():
        makers = ViewMakers(
            train=lambda workspace: QLabel("plots"),
            completions=lambda workspace: (QLabel("completions"), lambda: searched.append(1)),
        )
        form = RunForm(workspace, lambda *request: None, lambda *request: None, lambda *request: None)
        window = MainWindow(workspace, form, makers, WindowState(tmp_path / "window.ini"))
        qtbot.addWidget(window, before_close_func=MainWindow.close_now)  # a run may still train
        with qtbot.waitExposed(window):
            window.show()
        return window

    return make


@pytest.fixture
def window(make_window):
    return make_window()


def shown(window):
    page = window.pages.currentWidget()
    return "form" if page is window.train and window.train.shows_form else page_text(page)


def page_text(page):
    return page.currentWidget().text() if hasattr(page, "currentWidget") else page.text()


def deliver(pump, *events):
    for event in events:
        pump.put(event)
    pump.drain()


def menu_texts(window):
    return {action.text() for menu in window.menuBar().actions() for action in menu.menu().actions()}


def test_that_no_name_in_the_rail_is_cut_off(window):
    for button in (*window.rail.buttons.values(), window.rail.settings):
        assert button.width() >= button.sizeHint().width()


def test_that_choices_of_a_view_come_back_in_the_next_window(workspace, tmp_path, qtbot):
    class Choosing(QLabel):
        def choices(self):
            return self.text()

        def use_choices(self, text):
            self.setText(text)

    for text, expected in (("blue", "blue"), ("", "blue")):
        view = Choosing()
        view.setObjectName("remembered.test")
        makers = ViewMakers(train=lambda _: QLabel(), completions=lambda _, view=view: (view, lambda: None))
        form = RunForm(workspace, lambda *request: None, lambda *request: None, lambda *request: None)
        window = MainWindow(workspace, form, makers, WindowState(tmp_path / "window.ini"))
        qtbot.addWidget(window, before_close_func=MainWindow.close_now)
        window.show_view("completions")
        if text:
            view.setText(text)
        assert view.text() == expected
        window.close_now()


def test_that_the_window_opens_on_the_form(window):
    assert shown(window) == "form"
    assert window.windowTitle() == "grpo-gui"


def test_that_the_first_window_fits_on_the_screen_where_its_smallest_size_does(window):
    assert window.size() == window.size().boundedTo(window.screen().availableSize().expandedTo(window.minimumSize()))


def test_that_the_rail_and_the_keys_switch_the_views(window, qtbot):
    qtbot.mouseClick(window.rail.buttons["completions"], Qt.MouseButton.LeftButton)
    assert shown(window) == "completions"
    qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert shown(window) == "form"
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert shown(window) == "completions"
    assert window.rail.buttons["completions"].isChecked()


def test_that_the_first_step_replaces_the_form_with_the_plots(window, workspace, pump, qtbot):
    qtbot.mouseClick(window.form.card.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workspace.is_training)
    assert shown(window) == "form"
    deliver(pump, TrainerStatus(1, RunStatus.RUNNING, 0), step_completed(1, 1))
    assert shown(window) == "plots"
    assert window.tools.progress.place.text() == "step 1 of 120"
    assert window.focusWidget() is window.train


def test_that_a_selected_run_shows_its_plots_its_name_and_where_it_ended(window, workspace, fake_reader, qtbot):
    fake_reader.records[4] = run_record(4, name="sort", seed=3, steps_done=1200)
    with qtbot.waitSignal(workspace.runs_changed):
        workspace.refresh_runs()
    workspace.select_run(4)
    assert shown(window) == "plots"
    assert window.windowTitle() == "sort · seed 3 \u2013 grpo-gui"
    assert window.tools.selector.currentText() == "sort · seed 3"
    assert window.tools.progress.place.text() == "finished at step 1\u2009200"


def test_that_a_new_run_shows_the_form_and_selects_none(window, workspace, fake_reader, qtbot):
    fake_reader.records[4] = run_record(4)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(4)
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert shown(window) == "form"
    assert workspace.run is None
    assert window.tools.selector.currentIndex() == -1


def test_that_a_run_like_the_selected_one_fills_the_form(window, workspace, fake_reader, qtbot):
    fake_reader.records[4] = run_record(4, config='{"task": "sort", "seed": 12}')
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(4)
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window, Qt.Key.Key_N, keys)
    assert (window.form.draft.config.task, window.form.draft.config.seed) == ("sort", 12)


def test_that_the_time_left_follows_the_recent_pace(window, workspace, pump, qtbot):
    qtbot.mouseClick(window.form.card.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workspace.is_training)
    deliver(pump, TrainerStatus(1, RunStatus.RUNNING, 0), *(step_completed(1, step) for step in range(1, 21)))
    assert window.tools.progress.left.text() == "1 min 40 s left"  # one step a second, 100 to go
    assert window.status.steps.text() == "1.0 steps/s"


def test_that_the_question_mark_opens_the_keys_and_escape_closes_them(window, qtbot):
    qtbot.keyClick(window, "?")
    assert window.keys.isVisible()
    qtbot.keyClick(window.keys, Qt.Key.Key_Escape)
    assert not window.keys.isVisible()
    qtbot.mouseClick(window.status.keys, Qt.MouseButton.LeftButton)
    assert window.keys.isVisible()


def test_that_a_slash_searches_but_is_a_letter_in_a_field(window, searched, qtbot):
    field = window.form.card.inputs["steps"].field
    qtbot.keyClicks(field, "/")
    assert field.text().endswith("/")
    assert searched == []
    window.setFocus()
    qtbot.keyClick(window, "/")
    assert searched == [1]
    assert shown(window) == "completions"


def test_that_problems_are_shown_with_their_details(window, workspace, qtbot):
    workspace.problem.emit("The disk is full.", "")
    assert window.messages.isVisible()
    assert window.messages.text.text() == "The disk is full."
    assert not window.messages.details.isVisible()
    qtbot.mouseClick(window.messages.dismiss, Qt.MouseButton.LeftButton)
    assert not window.messages.isVisible()
    workspace.problem.emit("A bug.", "Traceback")
    qtbot.mouseClick(window.messages.details, Qt.MouseButton.LeftButton)
    box = next(widget for widget in QApplication.topLevelWidgets() if widget.property("detailedText") == "Traceback")
    box.close()


def test_that_the_status_bar_tells_torch_device_and_completions(window, workspace, fake_reader, qtbot):
    assert window.status.torch.text() == "torch warming up\u2026"
    workspace.set_torch_ready("2.13.0", ())
    assert window.status.torch.text() == "torch 2.13.0 ready"
    assert window.status.database.text() == "database new"
    fake_reader.records[4] = run_record(4, completions=9152, device="cuda:0")
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(4)
    assert window.status.completions.text() == "9\u2009152 completions"
    assert window.status.device.text() == "cuda:0"
    workspace.set_torch_failed("No torch.", "")
    assert window.status.torch.text() == "torch failed to load"


def test_that_place_and_size_are_remembered(make_window):
    first = make_window()
    first.resize(1000, 701)
    first.close()
    assert make_window().height() == 701


def test_that_closing_an_idle_window_tells_so(window, qtbot):
    with qtbot.waitSignal(window.closed):
        window.close()


def test_that_the_window_fits_on_a_small_screen(window):
    window.resize(1280, 720)
    assert (window.width(), window.height()) == (1280, 720)
    assert window.minimumSizeHint().width() <= 1280
    assert window.minimumSizeHint().height() <= 720


def test_that_no_shortcut_is_used_twice(window):
    from PySide6.QtGui import QAction, QShortcut

    keys = [action.shortcut().toString() for action in window.findChildren(QAction) if not action.shortcut().isEmpty()]
    keys += [shortcut.key().toString() for shortcut in window.findChildren(QShortcut)]
    assert QKeySequence("Space").toString() in keys
    assert len(keys) == len(set(keys))


def test_that_everything_that_takes_the_focus_has_a_name(window):
    nameless = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and not (widget.accessibleName() or getattr(widget, "text", str)())
        and not isinstance(widget.parent(), QLineEdit)
    ]
    assert [type(widget).__name__ for widget in nameless] == []


def test_that_the_theme_can_change_while_the_window_is_open(window, qtbot):
    theme.apply("dark")
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not window.grab().isNull()


def test_that_the_window_imports_what_is_dropped(window, qtbot, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(window.imports, "start", started.extend)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "run"))])
    no_keys = Qt.KeyboardModifier.NoModifier
    drop = QDropEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, no_keys)
    window.dropEvent(drop)
    assert (started, drop.isAccepted()) == ([tmp_path / "run"], True)


def test_that_a_change_of_theme_moves_nothing_in_the_tool_bar(window):
    def shape():
        QApplication.processEvents()
        tools = [window.tools.widgetForAction(action).geometry() for action in window.tools.actions()]
        return window.centralWidget().geometry(), window.tools.geometry(), tools

    before = shape()
    try:
        theme.apply("dark")
        assert shape() == before
    finally:
        theme.apply("light")
    assert shape() == before


def test_that_a_snapshot_by_hand_is_confirmed_and_leads_to_the_snapshots(window, workspace, launcher, pump, qtbot):
    window.form.submit()
    qtbot.waitUntil(lambda: bool(launcher.handles))
    run_id = launcher.handles[0].run_id
    deliver(pump, TrainerStatus(run_id, RunStatus.RUNNING, 3))
    qtbot.keyClick(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert launcher.handles[0].commands == [SaveSnapshot()]
    assert window.jobs.words.text() == "A snapshot is made after the step at hand."
    deliver(pump, SnapshotSaved(run_id, 4, 0.0, "/x", "every", True, 1, "", ()))
    assert "is made after" in window.jobs.words.text()
    deliver(pump, SnapshotSaved(run_id, 4, 0.0, "/x", "hand", True, 1, "", ()))
    assert window.jobs.words.text() == "The snapshot of step 4 is saved and kept until you delete it."
    window._views["snapshots"] = QLabel("snapshots")
    window.pages.addWidget(window._views["snapshots"])
    qtbot.mouseClick(window.jobs.button, Qt.MouseButton.LeftButton)
    assert window.pages.currentWidget() is window._views["snapshots"]


def test_that_the_space_bar_pauses_after_coming_back_from_another_view(window, workspace, launcher, pump, qtbot):
    window.form.submit()
    qtbot.waitUntil(lambda: bool(launcher.handles))
    deliver(pump, TrainerStatus(launcher.handles[0].run_id, RunStatus.RUNNING, 3))
    deliver(pump, step_completed(launcher.handles[0].run_id, 3))
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert window.train.hasFocus()
    qtbot.keyClick(window.train, Qt.Key.Key_Space)
    assert launcher.handles[0].commands == [Pause()]


def test_that_enter_starts_the_form_after_coming_back_from_another_view(window, launcher, qtbot):
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(launcher.started))


@pytest.mark.parametrize("width", [960, 1280])
def test_that_the_run_selector_stays_in_sight(window, width):
    window.resize(width, 700)
    QApplication.processEvents()
    assert window.tools.selector.isVisible()
    assert window.tools.geometry().contains(
        window.tools.selector.mapTo(window.tools, window.tools.selector.rect().bottomRight())
        + window.tools.geometry().topLeft()
    )
