from dataclasses import replace

from grpo_gui.diagnose.detectors.repetition import DETECTOR
from tests.diagnose.runs import Completion, Group, watch

LOOP = Completion(text="so " * 60, token_ids=(7,) * 20)
LONG_TEXT = Completion(text="the same words " * 30, token_ids=tuple(range(90)))
PLAIN = Completion(text="1 4 9", token_ids=(1, 4, 9, 2))


def group(*completions):
    return (Group(completions=completions),)


def test_that_loops_are_found_by_their_tokens_or_by_their_text():
    for one in (LOOP, LONG_TEXT, replace(LOOP, text="?")):
        watched = watch(DETECTOR, steps=20, groups=lambda step, one=one: group(one, PLAIN, PLAIN))
        assert watched.names == ["repetition"]
        assert watched.first[1].evidence[0].completion == 0


def test_that_one_in_five_is_none():
    assert watch(DETECTOR, steps=40, groups=lambda step: group(LOOP, PLAIN, PLAIN, PLAIN, PLAIN)).names == []


def test_that_short_answers_of_equal_digits_are_none():
    digits = Completion(text="111", token_ids=(9, 9, 9, 2))
    assert watch(DETECTOR, steps=40, groups=lambda step: group(digits, digits)).names == []
