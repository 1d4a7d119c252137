"""The cards of a group: as many beside each other as are readable, none of them cut where it can be helped."""

import random

import pytest

from grpo_gui.ui.models.rating_draft import JudgeBy
from grpo_gui.ui.models.rating_session import RatingSession
from grpo_gui.ui.models.rating_slots import shuffled
from grpo_gui.ui.widgets.rate_cards import RateCards
from tests.ui.fakes import completion

AT_1280, AT_1920 = 848, 1488  # width that the window of 1280 or 1920 pixels leaves to the cards
LONG = "Sunlight looks white, but it is made of many colours, and the air bounces the blue one around the most. "


@pytest.fixture
def cards(qtbot):
    result = RateCards()
    qtbot.addWidget(result)
    result.resize(AT_1280, 420)
    result.show()
    return result


def show(cards, texts, judge_by=JudgeBy.RANKS):
    samples = [completion(place, 0.0, 0.0, text) for place, text in enumerate(texts)]
    cards.show_session(RatingSession(shuffled(samples, random.Random(0)), judge_by))


def numbers(count):
    return [f"{place:06d}" for place in range(count)]


def texts(count):
    return [f"{place}. {LONG * 4}" for place in range(count)]


def columns_in_use(cards):
    return len({card.x() for card in cards.cards if card.isVisible()})


@pytest.mark.parametrize(("count", "columns"), [(2, 2), (4, 4), (5, 3), (6, 3), (8, 4), (16, 4)])
def test_that_numbers_stand_in_even_rows_of_at_most_four(qtbot, cards, count, columns):
    show(cards, numbers(count))
    qtbot.waitUntil(lambda: columns_in_use(cards) == columns)


@pytest.mark.parametrize(("count", "columns"), [(2, 2), (3, 3), (4, 2), (8, 3), (16, 3)])
def test_that_texts_stand_in_even_rows_of_at_most_three(qtbot, cards, count, columns):
    show(cards, texts(count))
    qtbot.waitUntil(lambda: columns_in_use(cards) == columns)


@pytest.mark.parametrize("make", [numbers, texts])
def test_that_no_card_of_a_group_of_eight_is_cut_at_its_wanted_height(qtbot, cards, make):
    show(cards, make(8))
    assert cards.wanted_height <= 440
    cards.resize(AT_1280, cards.wanted_height)
    qtbot.waitUntil(lambda: cards.verticalScrollBar().maximum() == 0)


def test_that_cards_of_numbers_ask_for_less_height_than_cards_of_texts(cards):
    show(cards, numbers(2))
    low = cards.wanted_height
    show(cards, texts(2))
    assert low < cards.wanted_height


@pytest.mark.parametrize("width", [AT_1280, AT_1920])
@pytest.mark.parametrize("make", [numbers, texts])
@pytest.mark.parametrize("judge_by", list(JudgeBy))
def test_that_nothing_sticks_out_at_the_right(qtbot, cards, width, make, judge_by):
    cards.resize(width, 420)
    show(cards, make(16), judge_by)
    qtbot.waitUntil(lambda: cards.widget().width() <= cards.viewport().width())


def test_that_a_short_answer_beside_a_long_one_is_no_number(qtbot, cards):
    show(cards, [*numbers(3), LONG])
    qtbot.waitUntil(lambda: columns_in_use(cards) == 2)
