import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QApplication, QTableView, QToolTip

from grpo_gui.ui import theme
from grpo_gui.ui.widgets import bars
from grpo_gui.ui.widgets.buttons import Chip, SegmentedControl
from grpo_gui.ui.widgets.card import Card
from grpo_gui.ui.widgets.empty_state import EmptyState
from grpo_gui.ui.widgets.labels import ElidedLabel, Pill, set_look
from grpo_gui.ui.widgets.legend import LegendEntry


@pytest.fixture
def card(qtbot):
    result = Card("Reward", padding=0)
    qtbot.addWidget(result)
    result.header.set_value("0.90")
    result.header.set_hint("a hint of several words")
    result.header.set_legend([LegendEntry("mean", "mean"), LegendEntry("format", "source_2", "dash")])
    result.resize(600, 60)
    result.show()
    return result


def test_that_a_narrow_header_drops_first_the_hint_then_the_legend_never_title_and_value(card):
    header = card.header

    def shown():
        parts = {"title": header.title, "value": header.value, "hint": header.hint, "legend": header.legend}
        return {name for name, widget in parts.items() if widget.isVisible()}

    assert shown() == {"title", "value", "hint", "legend"}
    card.resize(260, 60)
    assert shown() == {"title", "value", "legend"}
    card.resize(card.minimumSizeHint().width(), 60)
    assert shown() == {"title", "value"}
    card.resize(600, 60)
    assert shown() == {"title", "value", "hint", "legend"}


def test_that_a_segment_is_chosen_by_click_and_by_arrow_keys(qtbot):
    control = SegmentedControl([("a", "step"), ("b", "samples"), ("c", "time")], "a", "Axis")
    qtbot.addWidget(control)
    control.show()
    chosen = []
    control.changed.connect(chosen.append)
    qtbot.mouseClick(control._group.button(1), Qt.MouseButton.LeftButton)
    qtbot.keyClick(control, Qt.Key.Key_Right)
    qtbot.keyClick(control, Qt.Key.Key_Right)
    control.choose("a")
    assert chosen == ["b", "c", "a"]
    assert control.value == "a"


def test_that_a_chip_is_removed_by_its_cross(qtbot):
    from PySide6.QtWidgets import QPushButton

    chip = Chip("step 150 to 200")
    qtbot.addWidget(chip)
    with qtbot.waitSignal(chip.removed):
        qtbot.mouseClick(chip.findChild(QPushButton), Qt.MouseButton.LeftButton)


def test_that_a_shortened_label_tells_its_whole_text(qtbot):
    label = ElidedLabel("a long text that does not fit")
    qtbot.addWidget(label)
    label.resize(60, 20)
    label.show()
    where = label.mapToGlobal(QPoint(5, 5))
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), where))
    assert QToolTip.text() == "a long text that does not fit"
    QToolTip.hideText()


def test_that_looks_can_change(qtbot):
    pill = Pill("running", "good")
    qtbot.addWidget(pill)
    pill.set_state("failed", "bad")
    assert (pill.text(), pill.property("look")) == ("failed", "pill-bad")
    set_look(pill, "hint")
    assert pill.property("look") == "hint"


def test_that_an_empty_state_offers_one_way_on(qtbot):
    state = EmptyState("No run is selected.", "Set up a run")
    qtbot.addWidget(state)
    with qtbot.waitSignal(state.clicked):
        qtbot.mouseClick(state.action, Qt.MouseButton.LeftButton)


def painted(draw):
    """Return the share of each colour in a 100 x 20 picture."""
    picture = QImage(100, 20, QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    draw(painter, QRect(0, 0, 100, 20))
    painter.end()
    row = [QColor(picture.pixel(x, 10)).name().upper() for x in range(100)]
    return {color: row.count(color) for color in set(row)}, row


def test_that_a_reward_bar_is_as_long_as_the_reward(qapp):
    counts, row = painted(lambda painter, rect: bars.paint_reward_bar(painter, rect, 0.25))
    assert counts[theme.current().css("green")] == 25
    assert row[0] == theme.current().css("green")
    assert theme.current().css("green") not in painted(lambda p, rect: bars.paint_reward_bar(p, rect, None))[0]


def test_that_an_advantage_bar_points_left_or_right_of_its_axis_and_zero_still_has_the_axis(qapp):
    blue, vermillion, axis = (theme.current().css(name) for name in ("blue", "vermillion", "text3"))
    counts, row = painted(lambda painter, rect: bars.paint_advantage_bar(painter, rect, 1.0, 2.0))
    assert counts[blue] == pytest.approx(25, abs=1)
    assert blue not in row[:50]
    counts, row = painted(lambda painter, rect: bars.paint_advantage_bar(painter, rect, -9.0, 2.0))
    assert counts[vermillion] == 50
    assert vermillion not in row[51:]
    counts, _ = painted(lambda painter, rect: bars.paint_advantage_bar(painter, rect, 0.0, 2.0))
    assert counts[axis] == 1


def test_that_the_scale_of_advantages_is_what_a_group_can_reach():
    import numpy

    lone = numpy.array([1.0] + [0.0] * 7)
    largest = (lone[0] - lone.mean()) / lone.std(ddof=1)
    assert bars.advantage_limit(8) == pytest.approx(largest)


def test_that_the_delegates_draw_values_none_and_nothing(qtbot):
    table, model = QTableView(), QStandardItemModel(3, 2)
    qtbot.addWidget(table)
    table.setModel(model)
    for row, value in enumerate((0.5, None, float("nan"))):
        for column in range(2):
            item = QStandardItem()
            item.setData(value, Qt.ItemDataRole.UserRole)
            model.setItem(row, column, item)
    table.setItemDelegateForColumn(0, bars.RewardBarDelegate(table, Qt.ItemDataRole.UserRole))
    table.setItemDelegateForColumn(1, bars.AdvantageBarDelegate(table, Qt.ItemDataRole.UserRole, lambda index: 2.0))
    table.selectRow(0)
    table.show()
    assert not table.grab().isNull()


def test_that_a_card_is_named_by_its_title(qtbot):
    card = Card("Health")
    qtbot.addWidget(card)
    assert card.accessibleName() == "Health"
