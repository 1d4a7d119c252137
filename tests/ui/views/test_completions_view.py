"""The Completions view over a real database, driven as a person drives it."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QPushButton

from grpo_gui.events import RunStarted, RunStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionRef, GroupRef, GroupSummary
from grpo_gui.ui import theme
from grpo_gui.ui.models.completion_columns import Column
from grpo_gui.ui.views.completions_view import CompletionsView
from grpo_gui.ui.widgets.buttons import Chip
from grpo_gui.ui.widgets.range_popup import RangePopup
from tests.ui.fakes import completion, step_completed
from tests.ui.stored_run import group_of, store_steps, stored_run


@pytest.fixture
def open_view(qtbot, stored):
    """Open the view on a run and wait until everything is read."""

    def opened(run_id: int | None, width: int = 1300, height: int = 760) -> CompletionsView:
        view = CompletionsView(stored)
        qtbot.addWidget(view)
        view.resize(width, height)
        view.show()
        if run_id is not None:
            with StoreReader(stored.database) as reader:
                stored._select(reader.run(run_id))
        settle(qtbot, view)
        return view

    return opened


def settle(qtbot, view):
    qtbot.waitUntil(view._workspace._tasks.is_idle, timeout=5000)


def run_goes_on(qtbot, view, step: int, status: RunStatus = RunStatus.RUNNING) -> None:
    """Let the workspace tell that the run has done more steps, as the pump does."""
    workspace = view._workspace
    workspace.run = replace(workspace.run, steps_done=step, completions=8 * step, status=status)
    workspace.run_updated.emit(workspace.run)


def menu_action(menu: QMenu, text: str):
    return next(action for action in menu.actions() if action.text() == text)


def texts_of(view) -> list[str]:
    """The texts of the completions that a flat list shows."""
    model = view.list.model
    return [model.index(row, Column.TEXT).data() for row in range(model.rowCount())]


def test_that_without_a_run_one_button_leads_to_the_form(qtbot, open_view, stored):
    view = open_view(None)
    assert view.no_run.isVisible()
    with qtbot.waitSignal(stored.new_run_requested):
        qtbot.mouseClick(view.no_run.action, Qt.MouseButton.LeftButton)


def test_that_a_run_before_its_first_step_says_that_it_waits(open_view, writer):
    view = open_view(stored_run(writer))
    assert "first step" in view.list.message.text()
    assert view.list.message.isVisible()


def test_that_the_first_step_of_a_waiting_run_appears_by_itself(qtbot, open_view, writer):
    run_id = stored_run(writer)
    view = open_view(run_id)
    store_steps(writer, run_id, 1, 1)
    run_goes_on(qtbot, view, 1)
    qtbot.waitUntil(lambda: view.list.model.rowCount() == 2, timeout=5000)
    settle(qtbot, view)
    assert view.list.table.isVisible()
    assert view.detail.ref == CompletionRef(GroupRef(run_id, 1, 1), 0)
    qtbot.waitUntil(lambda: view.list.filters.count.text() == "8 completions, 2 groups", timeout=5000)


def test_that_a_run_that_ended_before_its_first_step_says_so(qtbot, open_view, writer):
    view = open_view(stored_run(writer))
    run_goes_on(qtbot, view, 0, RunStatus.FAILED)
    assert "ended before its first step" in view.list.message.text()


def test_that_another_order_starts_at_the_top_and_keeps_the_detail(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 30)
    view = open_view(run_id)
    qtbot.keyClick(view.list.table, Qt.Key.Key_J)
    settle(qtbot, view)
    shown = view.detail.ref
    view.list.filters.sort.setCurrentIndex(view.list.filters.sort.findData("oldest"))
    settle(qtbot, view)
    assert view.list.table.is_at_top()
    assert view.detail.ref == shown


def test_that_groups_are_shown_newest_first_with_the_first_two_open(open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 3)
    view = open_view(run_id)
    model, table = view.list.model, view.list.table
    first = model.record(model.index(0, 0))
    assert isinstance(first, GroupSummary)
    assert first.ref.step == 3
    assert model.rowCount() == 6
    assert [table.isExpanded(model.index(row, 0)) for row in range(3)] == [True, True, False]
    assert view.list.filters.count.text() == "24 completions, 6 groups"
    assert view.list.loaded.text() == "6 of 6 groups loaded"


def test_that_the_first_completion_is_chosen_and_its_numbers_are_shown(open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    assert view.detail.ref == CompletionRef(GroupRef(run_id, 1, 1), 0)
    assert view.detail.text_of("reward") == "1.00"
    assert view.detail.text_of("group mean") == "0.50"
    assert view.detail.text_of("advantage") == "+0.50"
    assert view.detail.tokens.numbers.text_of("old log-prob") == "−0.20"


def test_that_j_and_k_walk_through_groups_open_or_not(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    for _ in range(9):
        qtbot.keyClick(view.list.table, Qt.Key.Key_J)
    settle(qtbot, view)
    assert view.detail.ref == CompletionRef(GroupRef(run_id, 1, 1), 1)
    qtbot.keyClick(view.list.table, Qt.Key.Key_K)
    qtbot.keyClick(view.list.table, Qt.Key.Key_K)
    settle(qtbot, view)
    assert view.detail.ref == CompletionRef(GroupRef(run_id, 2, 0), 3)


def test_that_a_click_and_enter_open_and_close_a_group(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    table, group = view.list.table, view.list.model.index(0, 0)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(group).center())
    assert not table.isExpanded(group)
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert table.isExpanded(group)


def test_that_g_switches_between_groups_and_flat(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    qtbot.keyClick(view.list.table, Qt.Key.Key_G)
    settle(qtbot, view)
    assert not view.list.model.grouped
    assert view.list.model.index(0, Column.NUMBER).data() == "2 · 2 · 4"
    assert view.list.loaded.text() == "16 of 16 completions loaded"
    qtbot.keyClick(view.list.table, Qt.Key.Key_G)
    settle(qtbot, view)
    assert view.list.model.grouped


def test_that_slash_and_typing_search_after_a_moment(qtbot, open_view, writer):
    run_id = stored_run(writer)
    writer.emit(step_completed(run_id, 1, (group_of("nine", "ninety", "ten"),)))
    assert writer.flush(10)
    view = open_view(run_id)
    qtbot.keyClick(view.list.table, Qt.Key.Key_Slash)
    assert view.list.filters.search.hasFocus()
    qtbot.keyClicks(view.list.filters.search, "nine")
    qtbot.waitUntil(lambda: view.list.filters.count.text() == "2 of 3 completions, 1 group", timeout=5000)
    qtbot.keyClick(view.list.filters.search, Qt.Key.Key_Escape)
    settle(qtbot, view)
    assert view.list.filters.count.text() == "3 completions, 1 group"
    assert view.list.table.hasFocus()


def test_that_letters_in_the_search_field_are_no_shortcuts(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    view.list.filters.focus_search()
    qtbot.keyClicks(view.list.filters.search, "gjk/")
    assert view.list.filters.search.text() == "gjk/"
    assert view.list.model.grouped


def test_that_a_search_without_result_offers_to_remove_the_filters(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    view.list.filters.focus_search()
    qtbot.keyClicks(view.list.filters.search, "nothing like this")
    qtbot.keyClick(view.list.filters.search, Qt.Key.Key_Return)
    settle(qtbot, view)
    assert view.list.no_match.isVisible()
    qtbot.mouseClick(view.list.no_match.action, Qt.MouseButton.LeftButton)
    settle(qtbot, view)
    assert view.list.table.isVisible()
    assert view.list.filters.search.text() == ""


def test_that_a_filter_becomes_a_chip_and_its_cross_takes_it_away(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    menu_action(view.list.filters.filter_menu(), "Right only").trigger()
    settle(qtbot, view)
    assert view.list.filters.count.text() == "8 of 16 completions, 4 groups"
    assert view.list.filters.chip_texts() == ["right"]
    chip = next(chip for chip in view.list.findChildren(Chip) if chip.isVisible())
    qtbot.mouseClick(chip.findChild(QPushButton), Qt.MouseButton.LeftButton)
    settle(qtbot, view)
    assert view.list.filters.chip_texts() == []
    assert view.list.filters.count.text() == "16 completions, 4 groups"


def test_that_superseded_completions_are_hidden_until_asked_for_and_open_like_others(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 3)
    writer.emit(RunStarted(run_id, 2, "cpu", 1000, ()))
    writer.flush()
    view = open_view(run_id)
    assert view.list.filters.count.text() == "16 completions, 4 groups"
    menu_action(view.list.filters.filter_menu(), "Superseded only").trigger()
    settle(qtbot, view)
    assert view.list.filters.count.text() == "8 of 16 completions, 2 groups"
    assert view.list.filters.chip_texts() == ["superseded"]
    qtbot.waitUntil(lambda: view.list.table.model().rowCount() == 2)
    view.list.table.setFocus()
    qtbot.keyClick(view.list.table, Qt.Key.Key_J)
    settle(qtbot, view)
    qtbot.waitUntil(lambda: view.detail.ref.group.superseded == 1)


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_that_a_range_is_asked_for_and_checked(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 4)
    view = open_view(run_id)
    menu_action(view.list.filters.filter_menu(), "Step range…").trigger()
    popup = view.findChild(RangePopup)
    qtbot.keyClicks(popup.low, "3")
    qtbot.keyClicks(popup.high, "2")
    assert "larger" in popup.error.text()
    assert not popup.apply.isEnabled()
    popup.high.clear()
    qtbot.keyClicks(popup.high, "x")
    assert "whole number" in popup.error.text()
    popup.high.clear()
    qtbot.keyClicks(popup.high, "3")
    qtbot.keyClick(popup.high, Qt.Key.Key_Return)
    settle(qtbot, view)
    assert view.list.filters.chip_texts() == ["step 3"]
    assert view.list.filters.count.text() == "8 of 32 completions, 2 groups"


def test_that_tasks_are_offered_where_a_run_has_several(qtbot, open_view, writer):
    run_id = stored_run(writer)
    groups = (group_of("1", task="sort"), group_of("2", index=1, task="a & b"))
    writer.emit(step_completed(run_id, 1, groups))
    assert writer.flush(10)
    view = open_view(run_id)
    tasks = menu_action(view.list.filters.filter_menu(), "Task").menu()
    menu_action(tasks, "a && b").trigger()
    settle(qtbot, view)
    assert view.list.filters.chip_texts() == ["task: a & b"]
    assert view.list.filters.count.text() == "1 of 2 completions, 1 group"


def test_that_sorting_shows_the_lowest_reward_first(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    view.list.toggle_grouping()
    view.list.filters.sort.setCurrentIndex(view.list.filters.sort.findData("reward_low"))
    settle(qtbot, view)
    model = view.list.model
    rewards = [model.index(row, Column.REWARD).data() for row in range(model.rowCount())]
    assert rewards == ["0.00"] * 4 + ["1.00"] * 4


def test_that_pages_are_read_only_as_far_as_they_are_scrolled(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 150)
    view = open_view(run_id)
    model, bar = view.list.model, view.list.table.verticalScrollBar()
    assert model.rowCount() < 300
    while model.rowCount() < 300:
        before = model.rowCount()
        bar.setValue(bar.maximum())
        qtbot.waitUntil(lambda before=before: model.rowCount() > before, timeout=5000)
    settle(qtbot, view)
    assert view.list.loaded.text() == "300 of 300 groups loaded"
    steps = [model.record(model.index(row, 0)).ref.step for row in range(300)]
    assert steps == sorted(steps, reverse=True)


def test_that_new_steps_come_on_top_while_the_top_is_in_view(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    chosen = view.detail.ref
    store_steps(writer, run_id, 3, 4)
    run_goes_on(qtbot, view, 4)
    qtbot.waitUntil(lambda: view.list.model.rowCount() == 8, timeout=5000)
    settle(qtbot, view)
    assert view.list.model.record(view.list.model.index(0, 0)).ref.step == 4
    assert view.list.table.current_record().ref == chosen
    assert view.list.table.isExpanded(view.list.model.index(4, 0))
    assert not view.list.pill.isVisible()


def test_that_new_steps_only_show_a_pill_while_another_order_is_shown(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    view.list.filters.sort.setCurrentIndex(view.list.filters.sort.findData("reward_high"))
    settle(qtbot, view)
    store_steps(writer, run_id, 3, 5)
    run_goes_on(qtbot, view, 5)
    assert view.list.pill.isVisible()
    assert view.list.pill.text() == "3 new steps — show"
    assert view.list.model.rowCount() == 4
    qtbot.mouseClick(view.list.pill, Qt.MouseButton.LeftButton)
    settle(qtbot, view)
    assert view.list.model.rowCount() == 10
    assert not view.list.pill.isVisible()


def test_that_a_scrolled_list_does_not_jump(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 40)
    view = open_view(run_id)
    view.list.table.verticalScrollBar().setValue(200)
    settle(qtbot, view)
    rows = view.list.model.rowCount()
    store_steps(writer, run_id, 41, 41)
    run_goes_on(qtbot, view, 41)
    settle(qtbot, view)
    assert view.list.pill.text() == "1 new step — show"
    assert view.list.model.rowCount() == rows
    view.list.table.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: not view.list.pill.isVisible(), timeout=5000)
    qtbot.waitUntil(lambda: view.list.model.record(view.list.model.index(0, 0)).ref.step == 41, timeout=5000)


def test_that_on_the_curve_leads_to_the_step_in_the_train_view(qtbot, open_view, stored, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    steps, views = [], []
    stored.step_selected.connect(steps.append)
    stored.view_requested.connect(views.append)
    with qtbot.waitSignal(stored.completion_selected) as selected:
        qtbot.mouseClick(view.detail.curve, Qt.MouseButton.LeftButton)
    assert selected.args[0] == view.detail.ref
    assert (steps, views) == ([2], ["train"])


def test_that_a_completion_chosen_elsewhere_is_shown_here(qtbot, open_view, stored, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    wanted = CompletionRef(GroupRef(run_id, 1, 0), 2)
    stored.completion_selected.emit(wanted)
    settle(qtbot, view)
    assert view.detail.ref == wanted
    assert view.list.table.current_record().ref == wanted


def test_that_a_completion_far_down_is_found_in_the_list_of_its_step(qtbot, open_view, stored, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 150)
    view = open_view(run_id)
    wanted = CompletionRef(GroupRef(run_id, 7, 1), 3)
    stored.completion_selected.emit(wanted)
    settle(qtbot, view)
    qtbot.waitUntil(lambda: view.list.table.current_record().ref == wanted)
    assert view.list.filters.chip_texts() == ["step 7"]
    table = view.list.table
    assert table.viewport().rect().contains(table.visualRect(table.currentIndex()).center())
    assert view.detail.ref == wanted


def test_that_a_completion_newer_than_the_list_is_found_without_a_filter(qtbot, open_view, stored, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 40)
    view = open_view(run_id)
    view.list.table.verticalScrollBar().setValue(200)
    store_steps(writer, run_id, 41, 42)
    wanted = CompletionRef(GroupRef(run_id, 42, 0), 2)
    stored.completion_selected.emit(wanted)
    settle(qtbot, view)
    qtbot.waitUntil(lambda: view.list.table.current_record().ref == wanted)
    assert view.list.filters.chip_texts() == []


def test_that_a_filter_that_hides_a_completion_makes_way_for_it(qtbot, open_view, stored, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 3)
    view = open_view(run_id)
    menu_action(view.list.filters.filter_menu(), "Right only").trigger()
    settle(qtbot, view)
    wrong = CompletionRef(GroupRef(run_id, 2, 0), 1)
    stored.completion_selected.emit(wrong)
    settle(qtbot, view)
    qtbot.waitUntil(lambda: view.list.table.current_record().ref == wrong)
    assert view.list.filters.chip_texts() == ["step 2"]


def click_header(qtbot, view, column: Column) -> None:
    header = view.list.table.header()
    place = QPoint(header.sectionViewportPosition(column) + 20, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    settle(qtbot, view)


def headings(view) -> list[str]:
    return [view.list.model.headerData(column, Qt.Orientation.Horizontal) for column in Column]


def test_that_clicks_on_a_header_sort_down_and_up_and_back(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 2)
    view = open_view(run_id)
    seen = []
    for _ in range(3):
        click_header(qtbot, view, Column.REWARD)
        seen.append((view.list.filters.sort.currentText(), headings(view)[Column.REWARD]))
    assert seen == [
        ("Sort: highest reward", "reward \u2193"),
        ("Sort: lowest reward", "reward \u2191"),
        ("Sort: newest first", "reward"),
    ]
    before = headings(view)
    click_header(qtbot, view, Column.TEXT)
    assert view.list.query.sort == "newest"
    assert headings(view) == before


def test_that_a_click_on_tokens_shows_the_longest_then_the_shortest(qtbot, open_view, writer):
    run_id = stored_run(writer)
    samples = tuple(completion(place, 1.0, 0.0, "x" * place, token_ids=(5,) * place) for place in (1, 3, 2))
    writer.emit(step_completed(run_id, 1, (replace(group_of("a"), completions=samples),)))
    assert writer.flush(10)
    view = open_view(run_id)
    view.list.toggle_grouping()
    settle(qtbot, view)
    click_header(qtbot, view, Column.TOKENS)
    assert texts_of(view) == ["xxx", "xx", "x"]
    click_header(qtbot, view, Column.TOKENS)
    assert texts_of(view) == ["x", "xx", "xxx"]


def test_that_a_group_that_is_not_stored_is_named(qtbot, open_view, stored, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    stored.completion_selected.emit(CompletionRef(GroupRef(run_id, 9, 0), 0))
    settle(qtbot, view)
    assert view.detail.ref is None
    assert "Group 1 of step 9" in view.detail._empty.text()


def test_that_another_run_starts_without_filters(qtbot, open_view, stored, writer):
    first, second = stored_run(writer), stored_run(writer)
    store_steps(writer, first, 1, 2)
    store_steps(writer, second, 1, 1)
    view = open_view(first)
    menu_action(view.list.filters.filter_menu(), "Wrong only").trigger()
    settle(qtbot, view)
    with StoreReader(stored.database) as reader:
        stored._select(reader.run(second))
    settle(qtbot, view)
    assert view.list.filters.chip_texts() == []
    assert view.list.filters.count.text() == "8 completions, 2 groups"
    assert view.detail.ref.group.run_id == second


def test_that_a_column_can_be_hidden(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    assert not view.list.table.isColumnHidden(Column.KL)
    menu_action(view.list.columns_menu(), "max KL").trigger()
    assert view.list.table.isColumnHidden(Column.KL)
    menu_action(view.list.columns_menu(), "max KL").trigger()
    assert not view.list.table.isColumnHidden(Column.KL)


def test_that_a_narrow_window_shows_list_and_detail_in_turns(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id, width=760)
    assert view.list.isVisible()
    assert not view.detail.isVisible()
    qtbot.keyClick(view.list.table, Qt.Key.Key_Return)
    assert view.detail.isVisible()
    assert not view.list.isVisible()
    qtbot.keyClick(view.detail.tokens.heat_map, Qt.Key.Key_Escape)
    assert view.list.isVisible()


def test_that_odd_text_is_shown_as_it_is_and_nothing_of_it_is_read_as_html(qtbot, open_view, writer):
    odd = ["<b>bold</b><img src=x>", "第一步 答案", "الجواب هو", "a\nb\x00\x1b", "\u202eevil", "", "long " * 2000]
    run_id = stored_run(writer)
    writer.emit(step_completed(run_id, 1, (group_of(*odd, prompt="<h1>big</h1>\nsecond line"),)))
    assert writer.flush(10)
    view = open_view(run_id)
    view.list.toggle_grouping()
    settle(qtbot, view)
    shown = list(reversed(texts_of(view)))
    assert shown[:6] == ["<b>bold</b><img src=x>", "第一步 答案", "الجواب هو", "a⏎b␀␛", "<202E>evil", ""]
    tooltip = view.list.model.index(view.list.model.rowCount() - 1, Column.TEXT).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;bold" in tooltip
    assert view.detail._prompt.toPlainText() == "<h1>big</h1>\nsecond line"
    for row in range(view.list.model.rowCount()):
        view.list.table.reveal(view.list.model.index(row, 0))
        settle(qtbot, view)
        assert not view.grab().isNull()


def test_that_the_whole_view_can_be_painted_with_nothing_loaded(open_view, writer):
    view = open_view(stored_run(writer))
    assert not view.grab().isNull()
    assert view.list.table.indexAt(QPoint(5, 60)).isValid() is False


def test_that_the_open_view_follows_a_change_of_theme(qtbot, open_view, writer):
    run_id = stored_run(writer)
    store_steps(writer, run_id, 1, 1)
    view = open_view(run_id)
    place = QPoint(view.list.table.viewport().width() // 2, 4)
    assert view.list.table.viewport().grab().toImage().pixelColor(place) == theme.current().color("win")
    theme.apply("dark")
    dark = view.list.table.viewport().grab().toImage().pixelColor(place)
    assert dark == theme.current().color("win")
    assert dark.lightness() < 60
