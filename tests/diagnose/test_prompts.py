import pytest

from grpo_gui.diagnose.prompts import PromptOutcomes, PromptRecord


def test_that_the_posterior_is_that_of_a_uniform_prior():
    record = PromptRecord("p", right=2, judged=8, last_step=3)
    assert record.mean == pytest.approx(3 / 10)
    assert record.deviation == pytest.approx((0.3 * 0.7 / 11) ** 0.5)
    assert record.learnability == pytest.approx(4 * 0.3 * 0.7)


def test_that_prompts_half_solved_are_the_most_learnable():
    outcomes = PromptOutcomes()
    outcomes.add(1, [("easy", 8, 8), ("half", 4, 8), ("hard", 0, 8)])
    assert outcomes.records()[0].prompt == "half"


def test_that_only_prompts_tried_often_enough_are_listed():
    outcomes = PromptOutcomes()
    for step in (1, 2):
        outcomes.add(step, [("never", 0, 8), ("always", 8, 8)])
    outcomes.add(3, [("new", 0, 8)])
    assert [record.prompt for record in outcomes.never_solved()] == ["never"]
    assert [record.prompt for record in outcomes.always_solved()] == ["always"]
    assert outcomes.never_solved(fewest=8)[0].prompt == "never"
    assert len(outcomes.never_solved(fewest=8)) == 2


def test_that_steps_can_be_forgotten():
    outcomes, shorter = PromptOutcomes(), PromptOutcomes()
    for step in range(1, 11):
        rows = [(f"prompt {number}", number % 3 * step % 9, 8) for number in range(12)]
        outcomes.add(step, rows)
        if step < 6:
            shorter.add(step, rows)
    outcomes.forget_from(6)
    assert outcomes.records() == shorter.records()
    assert outcomes.never_solved_share() == shorter.never_solved_share()


def test_that_the_share_needs_eight_prompts_tried_often():
    outcomes = PromptOutcomes()
    for step in range(1, 5):
        outcomes.add(step, [(f"prompt {number}", 4 if number < 6 else 0, 8) for number in range(7)])
    assert outcomes.never_solved_share() is None
    for step in range(5, 9):
        outcomes.add(step, [("prompt 7", 0, 8)])
    assert outcomes.never_solved_share() == pytest.approx(2 / 8)
