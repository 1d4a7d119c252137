import pytest

from grpo_gui.ui import icons, theme
from grpo_gui.ui.widgets.icon_mark import IconMark


@pytest.fixture
def mark(qtbot):
    made = IconMark()
    qtbot.addWidget(made)
    return made


def same(pixmap, other):
    return pixmap.toImage() == other.toImage()


def test_that_a_mark_takes_the_colours_of_another_theme(mark):
    mark.show_icon("check", "good")
    assert same(mark.pixmap(), icons.pixmap("check", "good", 14))
    light = mark.pixmap()
    try:
        theme.apply("dark")
        assert same(mark.pixmap(), icons.pixmap("check", "good", 14))
        assert not same(mark.pixmap(), light)
    finally:
        theme.apply("light")


def test_that_a_mark_can_be_taken_away(mark):
    mark.show_icon("warning", "warn")
    mark.show_icon("")
    assert mark.pixmap().isNull()
