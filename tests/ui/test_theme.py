import itertools

import pytest
import shiboken6
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QLabel

from grpo_gui.ui import icons, theme, tokens
from grpo_gui.ui.theme import Theme


def luminance(color: QColor) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("text", ["text", "text2", "text3"])
@pytest.mark.parametrize("ground", ["win", "surface", "sunken", "soft"])
def test_that_text_has_a_contrast_of_at_least_4_5_on_every_ground(dark, text, ground):
    look = Theme(dark=dark)
    assert contrast(look.color(text), look.color(ground)) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("status", ["good", "warn", "bad"])
def test_that_status_words_can_be_read_on_their_pills(dark, status):
    look = Theme(dark=dark)
    assert contrast(look.color(status), look.color(f"{status}bg")) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_that_series_stand_out_from_the_surface(dark):
    look = Theme(dark=dark)
    for meaning in tokens.SERIES:
        assert contrast(look.color(meaning), look.color("surface")) >= 3


def test_that_light_and_dark_name_the_same_tokens():
    assert tokens.LIGHT.keys() == tokens.DARK.keys()


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_that_every_icon_can_be_drawn(qapp, choice):
    theme.apply(choice)
    for name in icons.ICONS:
        picture = icons.pixmap(name, "text", 16).toImage()
        places = itertools.product(range(picture.width()), range(picture.height()))
        assert any(picture.pixelColor(x, y).alpha() > 0 for x, y in places), name


def test_that_a_forced_theme_is_applied_and_announced(qapp, qtbot):
    with qtbot.waitSignal(theme.signals.changed):
        theme.apply("dark")
    assert theme.current().is_dark
    assert qapp.palette().window().color() == QColor(tokens.DARK["win"])


def test_that_figures_are_tabular(qapp):
    metrics = QFontMetrics(theme.font(12))
    assert metrics.horizontalAdvance("1111") == metrics.horizontalAdvance("0000")


def test_that_the_style_sheet_has_no_placeholder_left(qapp):
    sheet = qapp.styleSheet()
    assert "$" not in sheet
    assert "@" not in sheet


def test_that_a_follower_is_called_now_and_at_changes_until_its_widget_is_gone(qapp, qtbot):
    calls = []
    label = QLabel()
    theme.follow(label, lambda: calls.append(1))
    theme.apply("dark")
    assert len(calls) == 2
    label.deleteLater()
    qtbot.waitUntil(lambda: not shiboken6.isValid(label))
    theme.apply("light")
    assert len(calls) == 2
