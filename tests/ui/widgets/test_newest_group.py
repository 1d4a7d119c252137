import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from grpo_gui.ui.models.group_focus import GroupFocus
from grpo_gui.ui.models.shown_step import of_event
from grpo_gui.ui.widgets.batch_map import BatchMap, group_word, telling_parts
from grpo_gui.ui.widgets.newest_group import NewestGroup
from tests.ui.fakes import completion, group, step_completed
from tests.ui.stored_run import group_of


@pytest.fixture
def focus(workspace):
    return GroupFocus(workspace)


@pytest.fixture
def column(focus, qtbot):
    """Newest group and batch map, as in the right column."""
    page = QWidget()
    layout = QVBoxLayout(page)
    page.group, page.map = NewestGroup(focus), BatchMap(focus)
    layout.addWidget(page.group)
    layout.addWidget(page.map)
    layout.addStretch(1)
    page.resize(324, 700)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    return page


def offer(focus, qtbot, *groups):
    focus.offer(of_event(step_completed(1, 5, groups)))
    qtbot.waitUntil(lambda: focus.step is not None)


def test_that_the_group_with_the_widest_spread_is_shown_first(focus, column, qtbot):
    offer(focus, qtbot, group(0, (1.0, 1.0, 1.0, 1.0), "dull"), group(1, (1.0, 0.0, 1.0, 0.0), "telling"))
    assert column.group.prompt.toPlainText() == "telling"


def test_that_sum_and_signal_are_checked(focus, column, qtbot):
    offer(focus, qtbot, group(0))
    assert "sum 0.00" in texts(column)
    focus.clear()
    offer(focus, qtbot, group(0, (1.0, 1.0, 1.0, 1.0)))
    assert "no signal" in texts(column)


def test_that_numbers_of_the_group_are_told(focus, column, qtbot):
    offer(focus, qtbot, group(0, (1.0, 0.0, 1.0, 0.0)))
    assert "mean 0.50   std 0.58   1 distinct" in texts(column)


def test_that_a_reward_without_an_opinion_is_a_dash(focus, column, qtbot):
    samples = (completion(0, None, 0.0), completion(1, 1.0, 0.0))
    offer(focus, qtbot, group_like(samples))
    assert "mean 1.00   std –   1 distinct" in texts(column)


def test_that_held_groups_stay_when_a_newer_step_comes(focus, column, qtbot):
    offer(focus, qtbot, group(0, prompt="old"))
    qtbot.mouseClick(column.group.hold, Qt.MouseButton.LeftButton)
    focus.offer(of_event(step_completed(1, 6, (group(0, prompt="new"),))))
    assert column.group.prompt.toPlainText() == "old"
    assert column.group.hold.text() == "Held"
    qtbot.mouseClick(column.group.hold, Qt.MouseButton.LeftButton)
    assert column.group.prompt.toPlainText() == "new"


def test_that_arrow_keys_choose_a_completion_and_show_its_tokens(focus, column, qtbot):
    offer(focus, qtbot, group_of("ab", "cd", "ef"))
    qtbot.keyClick(column.group.table, Qt.Key.Key_Down)
    assert column.group.table.chosen_completion.text == "cd"
    with qtbot.waitSignal(column.group.completion_opened) as signal:
        qtbot.mouseClick(column.group.open_link, Qt.MouseButton.LeftButton)
    assert (signal.args[0].group.step, signal.args[0].index) == (5, 1)


def test_that_strange_text_is_shown_as_it_is(focus, column, qtbot):
    offer(focus, qtbot, group_of("<b>bold</b>\n\x07", "\u202eabc", "日本語" * 400, prompt="<i>p</i>\n" + "x" * 5000))
    assert column.group.prompt.toPlainText().startswith("<i>p</i>")
    assert column.group.height() < 700
    column.grab()


def test_that_the_map_names_what_tells_prompts_apart():
    assert telling_parts(["Sort the digits: 31", "Sort the digits: 37", "Sort the digits: 4"]) == ["31", "37", "4"]
    assert telling_parts(["abc", "abd"]) == ["abc", "abd"]
    assert telling_parts(["same prompt", "same prompt"]) == ["same prompt", "same prompt"]
    assert telling_parts(["a b", "a b c"]) == ["b", "b c"]
    assert telling_parts([]) == []


def test_that_the_map_tells_each_group_in_words(focus, column, qtbot):
    offer(focus, qtbot, group(0, prompt="p"), group(1, (1.0, 1.0, 1.0, 1.0)))
    assert group_word(focus.step.groups[0]) == "2 of 4 right"
    assert group_word(focus.step.groups[1]) == "no signal"
    assert column.map.accessibleName() == "Map of the step, 2 prompts"
    assert column.map.words(0) == "p\n2 of 4 right; rewards 1.00, 0.00, 1.00, 0.00"


def group_like(samples):
    return type(group(0))(0, "compare", "p", "a", (1,), samples)


def texts(page) -> list[str]:
    from PySide6.QtWidgets import QLabel

    return [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
