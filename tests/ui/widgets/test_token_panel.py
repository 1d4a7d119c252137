import pytest
from PySide6.QtCore import QPoint, Qt

from grpo_gui.ui.models.token_values import token_values
from grpo_gui.ui.widgets.token_panel import TokenPanel
from tests.ui.fakes import completion, floats


@pytest.fixture
def panel(qtbot):
    result = TokenPanel()
    qtbot.addWidget(result)
    result.resize(440, 420)
    result.show()
    result.show_values(token_values(completion()), "9.9", (0.8, 1.2))
    return result


def press_segment(qtbot, panel, text):
    button = next(b for b in panel.measures.findChildren(type(panel.measures._group.buttons()[0])) if b.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_that_the_token_that_moved_most_is_chosen_first(panel):
    assert panel.token in (0, 1)
    assert panel.numbers.text_of("clipped") == {0: "low", 1: "no"}[panel.token]


def test_that_a_click_chooses_a_token_and_its_numbers_follow(qtbot, panel):
    rect = panel.heat_map.cell_rect(2)
    qtbot.mouseClick(panel.heat_map, Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    assert panel.token == 2
    assert panel.numbers.text_of("token") == "“end”"
    assert panel.numbers.text_of("clipped") == "high"
    assert panel.numbers.text_of("entropy") == "0.10"


def test_that_the_arrow_keys_move_the_choice_and_stop_at_the_ends(qtbot, panel):
    panel.choose(0)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(panel.heat_map, key)
    assert panel.token == 2
    qtbot.keyClick(panel.heat_map, Qt.Key.Key_Home)
    assert panel.token == 0
    qtbot.keyClick(panel.heat_map, Qt.Key.Key_End)
    assert panel.token == 2


def test_that_a_bar_can_be_clicked(qtbot, panel):
    qtbot.mouseClick(panel.bars, Qt.MouseButton.LeftButton, pos=QPoint(panel.bars.width() - 5, 30))
    assert panel.token == 2


def test_that_a_screen_reader_hears_the_summary_and_the_chosen_token(panel):
    panel.choose(0)
    assert "3 tokens, log-ratio −0.10 to 0.10" in panel.heat_map.accessibleName()
    assert "token 1 of 3 “9.”" in panel.heat_map.accessibleDescription()
    assert "clipped low" in panel.heat_map.accessibleDescription()


def test_that_the_measure_changes_scale_and_text_can_be_read(qtbot, panel):
    press_segment(qtbot, panel, "entropy")
    assert "entropy 0.10 to 0.90" in panel.heat_map.accessibleName()
    assert panel.scale.accessibleName() == "Colour scale from 0 to 1.00"
    press_segment(qtbot, panel, "text")
    assert panel.text.isVisible()
    assert panel.text.toPlainText() == "9.9"
    assert not panel.heat_map.isVisible()


def test_that_clipped_tokens_are_counted_under_the_map(panel):
    assert panel._caption.text() == "▼ clipped low, 1 of 3  ▲ clipped high, 1 of 3"


def test_that_one_inner_update_is_explained_instead_of_left_blank(panel):
    same = floats(-0.4, -0.2, -0.1)
    panel.show_values(token_values(completion(logps=same, old_logps=same, clipped=bytes(3))), "9.9", (0.8, 1.2))
    assert panel._caption.text() == "0 of 3 clipped"
    assert "one inner update" in panel._hint.text()


def test_that_a_clipped_token_is_outlined_and_an_unclipped_is_not(qtbot, panel):
    def has_outline(token: int) -> bool:
        corner = panel.heat_map.cell_rect(token).topLeft().toPoint()
        return image.pixelColor(corner + QPoint(4, 0)).lightness() < 60

    panel.choose(1)
    image = panel.heat_map.grab().toImage()
    assert has_outline(0)
    assert has_outline(2)
    assert not has_outline(1)


def test_that_a_completion_without_tokens_shows_dashes(panel):
    empty = completion(
        token_ids=(), tokens=(), text="", logps=b"", old_logps=b"", ref_logps=b"", entropy=b"", clipped=b""
    )
    panel.show_values(token_values(empty), "", (0.8, 1.2))
    assert panel.numbers.text_of("ratio") == "–"
    assert not panel.grab().isNull()


def test_that_a_long_completion_scrolls_inside_and_shows_the_chosen_token(qtbot, panel):
    count = 3000
    numbers = floats(*([-0.5] * count))
    long = completion(
        token_ids=tuple(range(count)), tokens=(" word",) * count, text=" word" * count, truncated=True,
        logps=numbers, old_logps=numbers, ref_logps=numbers, entropy=numbers, clipped=bytes(count),
    )  # fmt: skip
    panel.show_values(token_values(long), long.text, (0.8, 1.2))
    assert panel._scroll.height() < panel.heat_map.height()
    qtbot.keyClick(panel.heat_map, Qt.Key.Key_End)
    assert panel.token == count - 1
    assert panel._scroll.verticalScrollBar().value() > 0
    assert not panel.grab().isNull()
