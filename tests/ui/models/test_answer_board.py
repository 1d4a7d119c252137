import pytest

from grpo_gui.router_events import RouterDecided
from grpo_gui.ui.models.answer_board import AnswerBoard
from grpo_gui.ui.router_engine import CANCELLED, DONE, FAILED, STREAMING, AnswerState

MODELS = ("a", "b", "c", "d")


def decided(number=1, asked=MODELS):
    share = tuple(1 / len(asked) for _ in asked)
    return RouterDecided(number, "q", "short", "it is", "table", "thompson", asked, share, share, asked, share)


@pytest.fixture
def board():
    return AnswerBoard(decided())


def tell(board, letter, state=DONE, text="text", sentence=""):
    answer = next(answer for answer in board.answers if answer.letter == letter)
    return board.take(AnswerState(board.decided.decision, answer.model, state, text, 3, 0.5, sentence))


def finish(board):
    for answer in board.answers:
        tell(board, answer.letter)


def test_that_the_order_tells_nothing_of_the_draw_and_stays_the_same():
    orders = {number: tuple(answer.model for answer in AnswerBoard(decided(number)).answers) for number in range(1, 40)}
    assert len(set(orders.values())) > 10
    assert orders[7] == tuple(answer.model for answer in AnswerBoard(decided(7)).answers)
    first = [order.index("a") for order in orders.values()]
    assert {0, 1, 2, 3} == set(first)


def test_that_answers_have_letters_and_begin_waiting(board):
    assert [answer.letter for answer in board.answers] == ["A", "B", "C", "D"]
    assert not board.is_complete
    assert board.against_submitting() == "A, B, C and D are still coming; Esc stops what is under way."


def test_that_a_rating_goes_on_to_the_next_answer_without_one(board):
    finish(board)
    board.rate(4)
    assert board.current == 1
    board.choose(3)
    board.rate(2)
    assert board.current == 1
    assert board.against_submitting() == "Rate B and C first, or skip with Space."


def test_that_the_last_rating_stays_where_it_is(board):
    finish(board)
    for stars in (5, 4, 3, 2):
        board.rate(stars)
    assert board.current == 3
    assert board.against_submitting() == ""
    assert board.hint() == "Enter submits, then the names are shown"
    assert board.stars() == {answer.model: stars for answer, stars in zip(board.answers, (5, 4, 3, 2), strict=True)}


def test_that_what_is_still_coming_is_named_once_the_rest_is_rated(board):
    for letter in "ACD":
        tell(board, letter)
    for _ in range(4):
        board.rate(3)
    assert board.hint() == "B is still coming; Esc stops what is under way."
    tell(board, "B")
    assert board.hint() == "Enter submits, then the names are shown"


def test_that_undo_takes_back_ratings_and_skips_in_turn(board):
    finish(board)
    board.rate(5)
    board.skip()
    board.choose(0)
    board.rate(1)
    board.undo()
    assert (board.answers[0].stars, board.current) == (5, 0)
    board.undo()
    assert (board.answers[1].is_skipped, board.current) == (False, 1)
    board.undo()
    assert board.answers[0].stars is None
    assert not board.can_undo
    board.undo()
    assert board.stars() == {}


def test_that_a_failed_answer_cannot_be_rated_and_is_passed_over(board):
    tell(board, "A", FAILED, "", "The endpoint does not answer.")
    assert board.current == 1
    board.choose(0)
    assert board.current == 1
    board.move(-1)
    assert board.current == 3
    board.move(1)
    assert board.current == 1
    for letter in "BCD":
        tell(board, letter)
    for _ in range(3):
        board.rate(3)
    assert board.against_submitting() == ""
    assert len(board.stars()) == 3


def test_that_an_answer_cut_off_in_its_text_can_be_rated_and_an_empty_one_cannot(board):
    tell(board, "A", STREAMING, "half")
    tell(board, "A", CANCELLED, "half")
    tell(board, "B", CANCELLED, "")
    assert board.answers[0].can_be_rated
    assert not board.answers[1].can_be_rated


def test_that_a_rating_given_while_it_streamed_goes_when_the_answer_fails_without_text(board):
    board.rate(5)
    tell(board, "A", FAILED, "", "It ended.")
    assert board.stars() == {}


def test_that_all_failed_leaves_nothing_to_rate(board):
    for letter in "ABCD":
        tell(board, letter, FAILED, "", "no")
    assert board.hint() == "no model answered, so nothing can be rated"
    assert board.against_submitting() == ""
    board.rate(5)
    assert board.stars() == {}


def test_that_answers_of_another_decision_are_left_aside(board):
    assert board.take(AnswerState(99, "a", DONE, "x", 1, 0.1)) is None
    assert board.take(AnswerState(1, "stranger", DONE, "x", 1, 0.1)) is None
    assert not any(answer.text for answer in board.answers)


def test_that_submitted_ratings_cannot_be_changed_until_they_are_opened_again(board):
    finish(board)
    for stars in (1, 2, 3, 4):
        board.rate(stars)
    board.submit()
    board.choose(0)
    board.rate(5)
    assert board.answers[0].stars == 1
    assert board.against_submitting() == "These answers are rated already."
    board.reopen()
    board.rate(5)
    assert board.answers[0].stars == 5
