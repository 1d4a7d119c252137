import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import TrainingError
from grpo_gui.tasks import REWARDS, Problem, is_right
from grpo_gui.tasks.rewards import needs_answer


def score(kind, completion, answer=None, argument="", tokens=1):
    reward = REWARDS[kind].make(argument)
    return reward(["prompt"], [completion], answer=[answer], completion_ids=[[0] * tokens], level=["easy"])[0]


@pytest.mark.parametrize(
    ("completion", "answer", "expected"),
    [("9.9", "9.9", 1.0), (" 9.9\n", "9.9", 1.0), ("9.90", "9.9", 0.0), ("", "9.9", 0.0), ("9.9", None, None)],
)
def test_that_exact_pays_for_the_same_text(completion, answer, expected):
    assert score("exact", completion, answer) == expected


@pytest.mark.parametrize(
    ("completion", "answer", "expected"),
    [
        ("9.90", "9.9", 1.0),
        ("The sum is 1,234.", "1234", 1.0),
        ("-.5", "-0.50", 1.0),
        ("18 or 19", "18", 0.0),
        ("so 6 * 3 = 18", "#### 18", 1.0),
        ("none", "18", 0.0),
        ("١٨", "18", 1.0),
        ("from 3-18", "18", 1.0),
        ("x = -18", "18", 0.0),
        ("1,2,18", "18", 1.0),
        ("1,234,567.50", "1234567.5", 1.0),
        ("18", "eighteen", None),
        ("18", None, None),
        ("9" * 5000, "9" * 5000, 1.0),
        ("9" * 5000 + "1", "9" * 5000, 0.0),
    ],
)
def test_that_numeric_compares_the_last_numbers_by_value(completion, answer, expected):
    assert score("numeric", completion, answer) == expected


@pytest.mark.parametrize(
    ("completion", "answer", "expected"),
    [
        ("1234", "1234", 1.0),
        ("1243", "1234", 0.1),
        ("123", "1234", 0.15),
        ("12345", "1234", 0.16),
        ("", "1234", 0.0),
        ("4321", "1234", 0.0),
    ],
)
def test_that_partial_pays_a_fifth_of_the_share_of_right_positions(completion, answer, expected):
    assert score("partial", completion, answer) == pytest.approx(expected)


@given(st.text("0123456789", max_size=12), st.text("0123456789", min_size=1, max_size=12))
def test_that_partial_credit_stays_below_a_fifth_unless_the_answer_is_exact(completion, answer):
    reward = score("partial", completion, answer)
    assert reward == 1.0 if completion == answer else 0.0 <= reward < 0.2


@pytest.mark.parametrize(
    ("completion", "expected"), [("57", 1.4), ("it is 57", 2.6), ("58", 0.4), ("5" * 16, 3.2), ("", 0.0)]
)
def test_that_the_hackable_reward_pays_for_length(completion, expected):
    assert score("contains_plus_length", completion, "57") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("pattern", "completion", "expected"),
    [(r"^\d+$", "123", 1.0), (r"^\d+$", "123a", 0.0), (r"<b>.*</b>", "so <b>1</b>", 1.0), ("a", "", 0.0)],
)
def test_that_regex_pays_where_the_pattern_is_found(pattern, completion, expected):
    assert score("regex", completion, argument=pattern) == expected


def test_that_a_pattern_that_would_hang_ends_with_a_sentence():
    with pytest.raises(TrainingError, match=r"takes more than 1 s on one completion; simplify it"):
        score("regex", "a" * 60 + "b", argument=r"^(a|aa|aaa)+(a|aa)+c")


@pytest.mark.parametrize(("tokens", "expected"), [(8, 1.0), (4, 0.5), (12, 0.5), (0, 0.0), (16, 0.0), (99, 0.0)])
def test_that_length_pays_by_the_distance_to_the_wanted_tokens(tokens, expected):
    assert score("length", "any", argument="8", tokens=tokens) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("kind", "argument", "sentence"),
    [
        ("regex", "", "Enter a regular expression"),
        ("regex", "(", "is no regular expression"),
        ("length", "", "whole number of tokens"),
        ("length", "0", "whole number of tokens"),
        ("length", "-3", "whole number of tokens"),
        ("length", "²", "whole number of tokens"),
        ("length", "9" * 5000, "whole number of tokens"),
        ("exact", "x", "takes no argument"),
    ],
)
def test_that_a_bad_argument_is_explained(kind, argument, sentence):
    assert sentence in REWARDS[kind].check(argument)


@pytest.mark.parametrize(("kind", "argument"), [("regex", r"^\d+$"), ("length", "8"), ("exact", ""), ("partial", "")])
def test_that_a_good_argument_passes(kind, argument):
    assert REWARDS[kind].check(argument) is None


def test_that_every_kind_has_a_label_and_a_tooltip_and_answers_for_itself():
    for kind, reward in REWARDS.items():
        assert reward.kind == kind
        assert reward.label
        assert reward.tooltip.endswith(".")
        assert needs_answer([kind]) == reward.needs_answer
    assert not needs_answer(["regex", "length"])
    assert needs_answer(["regex", "exact"])


@pytest.mark.parametrize(
    ("answer", "completion", "right"), [("12", " 12\n", True), ("12", "012", False), (None, "12", None)]
)
def test_that_a_completion_is_right_when_it_is_the_answer(answer, completion, right):
    assert is_right(Problem("sort", "Sort the digits: 21", answer), completion) is right
