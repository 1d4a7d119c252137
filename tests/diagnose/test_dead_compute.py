import math
from dataclasses import replace

import pytest

from grpo_gui.diagnose.dead_compute import dead_compute, wasted_tokens
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from tests.diagnose.runs import Group, group_of

LIVE = group_of([1, 0, 0, 0], lengths=[5, 5, 5, 5])
RIGHT = group_of([1, 1, 1, 1], lengths=[2, 2, 2, 2])
WRONG = group_of([0, 0, 0, 0], lengths=[4, 4, 4, 4])
COPIES = group_of([0, 0, 0, 0], ["x"] * 4, lengths=[3, 3, 3, 3])


def test_that_every_token_without_gradient_has_one_reason():
    counts = wasted_tokens((LIVE, RIGHT, WRONG, COPIES), mask_truncated=False)
    assert counts == {"waste/tokens": 56, "waste/all_right": 8, "waste/all_wrong": 16, "waste/copies": 12}


def test_that_truncated_answers_count_only_where_they_are_left_out():
    cut = Group(0, "p", tuple(replace(one, truncated=True) for one in LIVE.completions))
    assert wasted_tokens((cut,), mask_truncated=True) == {"waste/tokens": 20, "waste/truncated": 20}
    assert wasted_tokens((cut,), mask_truncated=False) == {"waste/tokens": 20}


def test_that_unrated_answers_are_told_apart():
    counts = wasted_tokens((group_of([None, None, 1, 0], lengths=[3, 3, 3, 3]),), mask_truncated=False)
    assert counts == {"waste/tokens": 12, "waste/unrated": 6}


def test_that_equal_rewards_without_an_answer_are_neither_right_nor_wrong():
    counts = wasted_tokens((group_of([0.5, 0.5], correct=None),), mask_truncated=False)
    assert counts == {"waste/tokens": 4, "waste/equal": 4}


def history_of(rows):
    history = History()
    for step, values in enumerate(rows, 1):
        history.append(step, values)
    return history


def test_that_time_is_shared_out_by_tokens():
    rows = [
        {"waste/tokens": 100.0, "waste/all_right": 50.0, "step_time": 2.0},
        {"waste/tokens": 100.0, "waste/all_wrong": 25.0, "waste/all_right": 25.0, "step_time": 4.0},
        {"waste/tokens": 100.0, "step_time": 6.0},
    ]
    meter = dead_compute(history_of(rows))
    assert (meter.steps, meter.tokens) == (3, 300)
    assert meter.share == pytest.approx(100 / 300)
    assert [(waste.kind.name, waste.share) for waste in meter.reasons] == [
        ("all_right", pytest.approx(0.25)),
        ("all_wrong", pytest.approx(25 / 300)),
    ]
    assert meter.seconds == pytest.approx(1 + 1 + 1)
    assert meter.sentence.startswith("33 % of the generated tokens taught nothing (3 s of work)")
    assert dead_compute(history_of(rows), last=1).share == 0
    assert dead_compute(history_of(rows), last=2).share == pytest.approx(0.25)


def test_that_a_run_without_times_or_samples_says_so():
    meter = dead_compute(history_of([{"waste/tokens": 10.0, "waste/all_right": 10.0}]))
    assert math.isnan(meter.seconds)
    assert "of work" not in meter.sentence
    assert dead_compute(History()).sentence.startswith("How long the answers of this run were is not known")
    assert dead_compute(history_of([{"waste/tokens": 10.0}])).sentence.startswith("Every generated token")


def test_that_ratings_of_earlier_groups_take_from_what_was_not_rated():
    unrated, rated = group_of([None] * 4, lengths=[3] * 4), group_of([1, 0, 0, 0], lengths=[3] * 4)
    diagnosis = Diagnosis(RunFacts())
    diagnosis.feed_step(1, {"ratings/used": 2.0}, (unrated, unrated, unrated, rated))  # one of the two is of before
    diagnosis.feed_step(2, {"ratings/used": 5.0}, (unrated, unrated))
    assert diagnosis.history.values("waste/unrated").tolist() == [24, 0]
