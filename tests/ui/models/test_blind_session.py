import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.snapshots.judging import Answer, Comparison, Pair, WinRate
from grpo_gui.store.records_snapshots import PairRef
from grpo_gui.ui.models.blind_session import BlindSession, Pace, flipped

REF = PairRef(1, 5, None)


def pair(number, *, same=False, first=1.0, second=0.0):
    text = f"better {number}"
    other = text if same else f"worse {number}"
    return Pair(f"Prompt {number}", Answer(text, 3, False, first), Answer(other, 3, False, second))


def comparison(count=10, same=0):
    pairs = [pair(number) for number in range(count)] + [pair(count + number, same=True) for number in range(same)]
    return Comparison(tuple(pairs), 7)


def side_of_better(session):
    return "left" if session.current.left.startswith("better") else "right"


def rate(session, key, number):
    rating = session.rating(key)
    session.take(number, rating)
    return rating


def test_that_the_result_is_hidden_until_the_goal_and_tells_whom_the_person_preferred():
    session = BlindSession(REF, comparison(10), (), goal=4)
    for number in range(4):
        assert session.result is None
        rate(session, side_of_better(session), number)
    assert session.current is None
    assert session.result == WinRate(wins=4, ties=0, losses=0)


def test_that_sides_are_mixed_and_the_same_every_time():
    def sides():
        session, found = BlindSession(REF, comparison(40), (), goal=40), []
        for number in range(40):
            found.append(side_of_better(session))
            rate(session, "equal", number)
        return found

    assert sides() == sides()
    assert 8 < sides().count("left") < 32


def test_that_identical_completions_are_left_out_and_lower_the_goal():
    session = BlindSession(REF, comparison(3, same=5), (), goal=40)
    assert session.goal == 3


def test_that_skipped_pairs_do_not_count_and_do_not_come_back():
    session = BlindSession(REF, comparison(3), (), goal=3)
    skipped = rate(session, "skip", 1)
    assert (skipped.choice, session.done) == ("skipped", 0)
    assert session.current.pair.prompt != skipped.prompt
    rate(session, side_of_better(session), 2)
    rate(session, "equal", 3)
    assert session.current is None
    assert session.result == WinRate(wins=1, ties=1, losses=0)


def test_that_an_undone_choice_brings_its_pair_back():
    session = BlindSession(REF, comparison(5), (), goal=5)
    first = session.current
    rate(session, "left", 41)
    assert session.current != first
    assert session.undo() == 41
    assert session.current == first
    assert session.undo() is None


def test_that_stored_ratings_are_gone_on_with_and_those_of_other_texts_are_not():
    session = BlindSession(REF, comparison(5), (), goal=5)
    rating = rate(session, side_of_better(session), 1)
    strange = pair(99)
    given_before = [(1, rating), (2, flipped(flipped(rating)))]
    again = BlindSession(REF, comparison(5), given_before[:1], goal=5)
    assert again.done == 1
    other = BlindSession(REF, Comparison((strange,), 7), given_before, goal=5)
    assert (other.done, other.current.pair) == (0, strange)


def test_that_a_flipped_rating_says_the_same_of_the_other_order():
    session = BlindSession(REF, comparison(3), (), goal=3)
    rating = session.rating(side_of_better(session))
    assert rating.choice == "first"
    turned = flipped(rating)
    assert (turned.pair, turned.choice) == (PairRef(1, None, 5), "second")
    assert (turned.first_text, turned.second_text) == (rating.second_text, rating.first_text)
    assert flipped(turned) == rating


def test_that_nothing_to_tell_has_no_result():
    session = BlindSession(REF, comparison(0, same=3), (), goal=10)
    assert (session.current, session.result, session.goal) == (None, None, 0)
    assert session.rating("left") is None


def test_that_the_time_left_comes_from_the_usual_pace():
    pace = Pace()
    for now_s in (0.0, 2.0, 4.0):
        pace.note(now_s)
    assert pace.left_s(10) is None
    pace.note(104.0)  # a break
    pace.note(106.0)
    assert pace.left_s(10) == 20.0


def test_that_the_interval_is_wilsons():
    low, high = WinRate(56, 108, 36).interval()
    assert (round(low, 3), round(high, 3)) == (0.507, 0.702)  # worked by hand
    assert WinRate(0, 3, 0).interval() == (0.0, 1.0)
    assert math.isnan(WinRate(0, 3, 0).share)


@given(st.integers(0, 300), st.integers(0, 300))
def test_that_the_interval_holds_the_share_and_mirrors_when_the_two_change_places(wins, losses):
    rate_, mirrored = WinRate(wins, 0, losses), WinRate(losses, 0, wins)
    low, high = rate_.interval()
    assert 0 <= low <= high <= 1
    if wins + losses:
        assert low - 1e-9 <= rate_.share <= high + 1e-9
    assert mirrored.interval() == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_that_the_largest_differences_come_from_both_ends():
    values = (0.1, -0.9, 0.4, 0.0, -0.2, 0.8)
    pairs = tuple(pair(number, first=max(value, 0), second=max(-value, 0)) for number, value in enumerate(values))
    largest = Comparison(pairs, 0).largest(4)
    assert [round(item.difference, 1) for item in largest] == [0.8, 0.4, -0.2, -0.9]


def test_that_pairs_without_a_reward_are_left_out_of_the_win_rate():
    pairs = (pair(0), pair(1, first=None), pair(2, first=0.0, second=0.0), pair(3, first=0.0, second=1.0))
    assert Comparison(pairs, 0).win_rate == WinRate(1, 1, 1)
