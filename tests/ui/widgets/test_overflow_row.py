import pytest
from PySide6.QtCore import Qt

from grpo_gui.ui.widgets.buttons import button
from grpo_gui.ui.widgets.overflow_row import OverflowRow

NAMES = ("Open", "Rename", "Delete")


@pytest.fixture
def row(qtbot):
    made = OverflowRow([button(name) for name in NAMES])
    qtbot.addWidget(made)
    made.show()
    return made


def shown(row):
    return [one.text() for one in row._buttons if one.isVisible()]


def menu(row):
    row.menu.aboutToShow.emit()
    return {action.text(): action for action in row.menu.actions()}


def test_that_every_button_is_shown_where_there_is_room(row):
    row.resize(row.sizeHint())
    assert shown(row) == list(NAMES)
    assert not row.more.isVisible()


def test_that_what_does_not_fit_stands_in_the_menu_and_works_from_there(row, qtbot):
    row.resize(row.sizeHint().width() - 1, 30)
    hidden = [name for name in NAMES if name not in shown(row)]
    assert hidden
    assert row.more.isVisible()
    assert list(menu(row)) == hidden
    last = row._buttons[-1]
    with qtbot.waitSignal(last.clicked):
        menu(row)["Delete"].trigger()
    last.setEnabled(False)
    assert not menu(row)["Delete"].isEnabled()


def test_that_nothing_shown_is_cut_off_at_any_width(row):
    for width in range(row.minimumSizeHint().width(), row.sizeHint().width() + 5, 7):
        row.resize(width, 30)
        row.layout().activate()
        visible = [one for one in (*row._buttons, row.more) if one.isVisible()]
        assert all(one.width() >= one.sizeHint().width() for one in visible)
        assert max(one.geometry().right() for one in visible) < width


def test_that_a_longer_word_pushes_the_last_button_into_the_menu(row, qtbot):
    row.resize(row.sizeHint())
    row._buttons[0].setText("Open this one in the other window")
    qtbot.waitUntil(lambda: "Delete" not in shown(row))
    assert row._buttons[0].isVisible() is False or row._buttons[0].width() >= row._buttons[0].sizeHint().width()


def test_that_the_menu_button_opens_with_the_keyboard(row):
    row.resize(row.minimumSizeHint())
    assert shown(row) == []
    assert row.more.focusPolicy() & Qt.FocusPolicy.TabFocus
