"""From the Train view to a completion among all others, in a whole window over a real store."""

from PySide6.QtCore import Qt

from grpo_gui.store.records import CompletionRef, GroupRef
from grpo_gui.ui.health_watch import HealthWatch
from grpo_gui.ui.main_window import MainWindow, ViewMakers
from grpo_gui.ui.views.completions_view import CompletionsView
from grpo_gui.ui.views.run_form import RunForm
from grpo_gui.ui.views.train_view import TrainView
from grpo_gui.ui.window_state import WindowState
from tests.ui.stored_run import store_steps, stored_run


def test_that_open_in_completions_selects_the_very_row_also_at_the_views_first_use(stored, writer, tmp_path, qtbot):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 60)
    views = []

    def completions(workspace):
        views.append(CompletionsView(workspace))
        return views[0], views[0].list.filters.focus_search

    makers = ViewMakers(train=lambda workspace: TrainView(workspace, HealthWatch(workspace)), completions=completions)
    form = RunForm(stored, lambda *request: None, lambda *request: None, lambda *request: None)
    window = MainWindow(stored, form, makers, WindowState(tmp_path / "window.ini"))
    qtbot.addWidget(window, before_close_func=MainWindow.close_now)
    window.resize(1440, 900)
    with qtbot.waitExposed(window):
        window.show()
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: window.train.findChild(TrainView) is not None)
    train = window.train.findChild(TrainView)
    wanted = CompletionRef(GroupRef(run_id, 3, 1), 2)
    qtbot.waitUntil(lambda: train.model.series.run_id == run_id and not train.model.is_loading)
    train.focus.show_step(3, 1, 2)
    qtbot.waitUntil(lambda: train.group.open_link.isVisible() and train.focus.step.step == 3)
    qtbot.mouseClick(train.group.open_link, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(views) and getattr(views[0].list.table.current_record(), "ref", None) == wanted)
    table = views[0].list.table
    assert window.pages.currentWidget() is views[0]
    assert table.viewport().rect().contains(table.visualRect(table.currentIndex()).center())
    qtbot.waitUntil(lambda: views[0].detail.ref == wanted)
    qtbot.waitUntil(stored._tasks.is_idle)
