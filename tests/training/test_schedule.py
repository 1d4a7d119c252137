import pytest

from grpo_gui.training.schedule import learning_rate_at


def rate(step: int, steps: int = 120, warmup_steps: int = 5) -> float:
    return learning_rate_at(step, peak=3e-4, steps=steps, warmup_steps=warmup_steps, min_lr_ratio=0.1)


def test_that_it_warms_up_and_decays_linearly():
    assert rate(1) == pytest.approx(6e-5)
    assert rate(5) == pytest.approx(3e-4)
    assert rate(120) == pytest.approx(3e-5)
    assert rate(6) - rate(7) == pytest.approx(rate(100) - rate(101))


def test_that_without_warm_up_the_first_step_has_the_peak():
    assert rate(1, warmup_steps=0) == pytest.approx(3e-4)


def test_that_it_stays_at_its_end_behind_the_last_step():
    assert rate(500) == pytest.approx(3e-5)


def test_that_a_run_of_one_step_has_a_learning_rate():
    assert rate(1, steps=1, warmup_steps=0) == pytest.approx(3e-4)
    assert rate(1, steps=1, warmup_steps=1) == pytest.approx(3e-4)
