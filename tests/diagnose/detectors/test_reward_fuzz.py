from grpo_gui.diagnose.detectors.reward_fuzz import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch

REAL = {"fuzz__real_median": 0.5, "fuzz__real_lowest": 0.0}


def test_that_nonsense_that_is_paid_like_half_of_the_answers_is_found():
    watched = watch(DETECTOR, steps=1, **REAL, fuzz__empty=0.0, fuzz__all_answers=1.0)
    assert watched.first[1].headline == "The reward pays for a list of all possible answers."


def test_that_unpaid_nonsense_is_none():
    assert watch(DETECTOR, steps=1, **REAL, fuzz__empty=0.0, fuzz__prompt_echo=0.2).names == []


def test_that_nothing_can_be_below_the_lowest():
    assert watch(DETECTOR, steps=1, fuzz__real_median=0.0, fuzz__real_lowest=0.0, fuzz__empty=0.0).names == []


def test_that_a_bench_is_needed():
    assert watch(DETECTOR, steps=1, reward=1.0).reading("reward_fuzz") is Missing.NOT_RECORDED
