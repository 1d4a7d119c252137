"""The keys of the Rate view, the layout of a group, and the entry that they end in. No window."""

import random

import pytest

from grpo_gui.events import GroupRef
from grpo_gui.ui.models.rating_differences import difference, length_text
from grpo_gui.ui.models.rating_draft import FLAG_TAGS, JudgeBy, RatingDraft
from grpo_gui.ui.models.rating_record import Showing, rating_event, states_of
from grpo_gui.ui.models.rating_session import Outcome, RatingSession
from grpo_gui.ui.models.rating_slots import NOT_SHOWN, SLOT_KEYS, laid_out, shuffled
from grpo_gui.ui.models.rating_words import badge, next_key, standing
from tests.ui.fakes import completion

SHOWING = Showing(GroupRef(1, 2, 0), "mara", "why", is_repeat=False, is_audit=True, shown_s=10.0, first_key_s=11.0)


def group(*texts):
    return tuple(completion(place, text=text) for place, text in enumerate(texts))


def session(*texts, how=JudgeBy.RANKS):
    completions = group(*(texts or ("a", "b", "c", "d")))
    places = {text: place for place, text in enumerate(dict.fromkeys(item.text for item in completions))}
    return RatingSession(laid_out(completions, [places[item.text] for item in completions]), how)


def press(of, *keys):
    return [of.press(key) for key in keys]


def event_of(of, *, skipped=False):
    return rating_event(SHOWING, of.layout, of.draft, 12.0, skipped=skipped)


def test_that_identical_answers_share_a_card_and_every_completion_has_a_position():
    layout = shuffled(group("x", "y", "x", "z", "x"), random.Random(3))
    assert sorted(slot.count for slot in layout.slots) == [1, 1, 3]
    for slot in layout.slots:
        assert all(layout.positions[member] == slot.place for member in slot.members)
    assert layout.positions[0] == layout.positions[2] == layout.positions[4]


def test_that_the_order_on_screen_is_shuffled_and_can_be_shown_again():
    completions = group(*"abcdef")
    orders = {shuffled(completions, random.Random(seed)).positions for seed in range(20)}
    assert len(orders) > 10
    first = shuffled(completions, random.Random(0))
    assert laid_out(completions, first.positions) == first


def test_that_answers_beyond_the_last_key_have_no_card_and_no_opinion():
    layout = shuffled(group(*(f"answer {number}" for number in range(35))), random.Random(0))
    assert len(layout.slots) == len(SLOT_KEYS)
    assert layout.left_out == 35 - len(SLOT_KEYS)
    of = RatingSession(layout, JudgeBy.RANKS)
    press(of, "1")
    event = event_of(of)
    assert [value is None for value in event.values] == [place == NOT_SHOWN for place in layout.positions]


def test_that_a_ranking_leaves_the_rest_tied():
    of = session("a", "b", "c", "d")
    assert next_key(of) == ("Best", "press 1, 2, 3 or 4.")
    press(of, "2")
    assert next_key(of) == ("Next best", "press 1, 3 or 4. Enter leaves the rest tied.")
    press(of, "4")
    assert standing(of.draft) == ("best: 2", "second: 4", "tied: 1 3")
    assert of.press("Enter") is Outcome.SUBMIT
    assert event_of(of).values == (3.0, 1.0, 3.0, 2.0)
    assert event_of(of).mode == "ranks"


def test_that_t_ties_the_next_pick_with_the_last():
    of = session("a", "b", "c")
    press(of, "1", "T", "3")
    assert event_of(of).values == (1.0, 2.0, 1.0)
    assert badge(of.draft, 2) == "best"


def test_that_a_card_cannot_be_picked_twice():
    of = session("a", "b", "c")
    press(of, "1", "1")
    assert of.draft.state.levels == ((0,),)


def test_that_scores_go_from_card_to_card_and_copies_share_the_score():
    of = session("a", "b", "a", how=JudgeBy.SCORES)
    press(of, "5", "2")
    event = event_of(of)
    assert event.mode == "scores"
    assert event.values == (5.0, 2.0, 5.0)


def test_that_an_unscored_answer_has_no_opinion_instead_of_zero():
    of = session("a", "b", "c", how=JudgeBy.SCORES)
    press(of, "Right", "4")
    assert event_of(of).values == (None, 4.0, None)
    assert "teaches nothing" in next_key(of)[1]


def test_that_of_a_pair_the_better_one_stays():
    of = session("a", "b", "c", "d", how=JudgeBy.PAIRS)
    assert of.draft.pair == (0, 1)
    press(of, "2")
    assert of.draft.pair == (1, 2)
    press(of, "Down")
    assert of.draft.pair == (1, 3)
    press(of, "Right")
    assert of.draft.pair is None
    event = event_of(of)
    assert event.pairs == ((0, 1, 0.0), (1, 2, 0.5), (1, 3, 0.0))
    assert event.values == (None, None, None, None)


def test_that_good_ones_are_marked_and_the_rest_is_bad():
    of = session("a", "b", "a", how=JudgeBy.LABELS)
    press(of, "1")
    assert event_of(of).values == (1.0, 0.0, 1.0)
    press(of, "1")
    assert of.press("Enter") is Outcome.IGNORED


@pytest.mark.parametrize(("key", "mode", "value"), [("A", "all_good", 5.0), ("Z", "all_bad", 1.0)])
def test_that_one_key_judges_all(key, mode, value):
    of = session("a", "b", "c")
    press(of, "2", key)
    assert event_of(of).mode == mode
    assert event_of(of).values == (value,) * 3
    assert of.press("Enter") is Outcome.SUBMIT


def test_that_enter_without_a_word_keeps_nothing():
    of = session()
    assert of.press("Enter") is Outcome.IGNORED


def test_that_a_flag_takes_card_and_reason_and_alone_puts_the_group_aside():
    of = session("a", "b", "a")
    press(of, "F", "1", "1")
    assert badge(of.draft, 0) == ""
    event = event_of(of)
    assert event.tags == ((0, FLAG_TAGS[0]), (2, FLAG_TAGS[0]))
    assert of.press("Enter") is Outcome.SUBMIT
    assert event.mode == "flag"
    assert event.values == (None, None, None)


def test_that_escape_leaves_a_flag():
    of = session()
    press(of, "F", "Esc", "1")
    assert of.draft.state.flags == ()
    assert of.draft.state.levels == ((0,),)


def test_that_every_press_can_be_taken_back_and_then_the_rating_before():
    of = session("a", "b", "c")
    before = of.draft.state
    press(of, "1", "T", "2", "F", "3", "2", "Z")
    backs = press(of, *["Backspace"] * 5)
    assert backs == [Outcome.CHANGED] * 5
    assert of.draft.state == before
    assert of.press("Backspace") is Outcome.TAKE_BACK


def test_that_space_skips_and_says_nothing():
    of = session("a", "b")
    press(of, "1")
    assert of.press("Space") is Outcome.SKIP
    event = event_of(of, skipped=True)
    assert event.mode == "skip"
    assert event.values == (None, None)


@pytest.mark.parametrize(
    ("how", "keys"),
    [
        (JudgeBy.RANKS, ("2", "T", "3", "1")),
        (JudgeBy.RANKS, ("2",)),
        (JudgeBy.SCORES, ("1", "5", "3")),
        (JudgeBy.SCORES, ("Right", "5")),
        (JudgeBy.PAIRS, ("1", "Right")),
        (JudgeBy.LABELS, ("1", "3")),
        (JudgeBy.RANKS, ("A",)),
        (JudgeBy.SCORES, ("F", "2", "3", "Z")),
    ],
)
def test_that_an_entry_taken_back_is_said_again_by_enter(how, keys):
    of = session("a", "b", "c", "d", "b", how=how)
    press(of, *keys)
    of.draft.annotate("a note")
    event = event_of(of)
    again = RatingSession(laid_out(group("a", "b", "c", "d", "b"), event.positions), how)
    again.draft.restore(states_of(event, again.layout))
    assert event_of(again) == event


def test_that_relabelling_the_cards_changes_nothing():
    texts = ("a", "b", "c", "d")
    for seed in range(5):
        layout = shuffled(group(*texts), random.Random(seed))
        of = RatingSession(layout, JudgeBy.RANKS)
        for text in ("c", "a"):
            of.click(next(slot.place for slot in layout.slots if slot.text == text))
        assert event_of(of).values == (2.0, 3.0, 1.0, 3.0)


def test_that_another_way_of_judging_keeps_flags_and_note():
    draft = RatingDraft(3)
    draft.pick(0)
    draft.flag(1, "repeats")
    draft.annotate("hm")
    draft.judge_by(JudgeBy.SCORES)
    assert draft.state.levels == ()
    assert (draft.state.flags, draft.state.note) == (((1, "repeats"),), "hm")
    assert draft.undo()
    assert draft.state.levels == ((0,),)


def test_that_only_what_differs_from_the_most_common_answer_is_marked():
    common = "Sunlight looks white, but it is made of many colours."
    other = "Sunlight looks white, but the sea is made of many colours."
    found = difference(common, other)
    assert [other[start:end] for start, end in found.spans] == ["the sea"]


def test_that_nothing_is_marked_where_little_is_shared():
    assert difference("one two three four", "five six three seven").spans is None
    assert difference("", "something").spans is None
    assert difference("one two six ten", "one two four nine").spans is None  # half is not more than half


def test_that_chinese_is_compared_sign_by_sign():
    other = "天空是红色的"
    found = difference("天空是蓝色的", other)
    assert [other[start:end] for start, end in found.spans] == ["红"]
    assert length_text(other) == "6 characters"
    assert length_text("two words") == "2 words"
    assert length_text("9.11") == "4 characters"
    assert length_text("don't – stop.") == "2 words"


def test_that_the_most_common_answer_is_the_one_compared_with():
    layout = laid_out(group("a b c d", "a b c e", "a b c e"), (0, 1, 1))
    first, second = layout.slots
    assert (first.footnote, second.footnote) == ("differs from 2", "")
    assert [first.text[start:end] for start, end in first.differs] == ["d"]
    far = laid_out(group("a b c d", "x y z", "x y z"), (0, 1, 1))
    assert far.slots[0].footnote == "shares little with 2"


def test_that_numbers_are_compared_sign_by_sign():
    found = difference("1138", "11389")
    assert ["11389"[start:end] for start, end in found.spans] == ["9"]
    assert difference("1138", "2249").spans is None
