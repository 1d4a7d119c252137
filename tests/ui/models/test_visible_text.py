import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.ui.models.visible_text import one_line, paragraph, quoted, token_text


def test_that_line_ends_tabs_and_control_characters_become_signs():
    assert one_line("a\nb\tc\x00\x1b[0m") == "a⏎b⇥c␀␛[0m"


def test_that_direction_overrides_cannot_reorder_a_line():
    assert one_line("safe\u202eevil") == "safe<202E>evil"


def test_that_chinese_arabic_and_joined_emoji_stay_as_they_are():
    text = "答案是四十三 الجواب 👩\u200d👧"
    assert one_line(text) == text


def test_that_a_lone_surrogate_is_shown_as_its_code():
    assert one_line("a\ud800") == "a<D800>"


def test_that_a_paragraph_keeps_its_lines():
    assert paragraph("a\r\nb\tc\x07") == "a\nb\tc␇"


def test_that_an_empty_token_can_be_seen_and_blanks_are_kept():
    assert token_text("") == "∅"
    assert token_text(" and") == " and"
    assert token_text("\u200d") == "<200D>"
    assert quoted(" 3") == "“ 3”"


@given(st.text(max_size=60))
def test_that_a_line_never_holds_a_character_that_moves_others(text):
    shown = one_line(text)
    forbidden = {"Cc", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(character) in forbidden for character in shown)
    assert all(character in "\u200c\u200d" for character in shown if unicodedata.category(character) == "Cf")
