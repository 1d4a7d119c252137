from grpo_gui.diagnose.detectors.slow_reward import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch


def test_that_a_reward_that_hangs_is_found():
    slow = lambda step: 0.01 if step <= 50 else 2.0  # noqa: E731
    whole = lambda step: 0.5 if step <= 50 else 2.5  # noqa: E731
    step, finding = watch(DETECTOR, steps=80, time__reward=slow, step_time=whole).first
    assert 52 < step < 62
    assert "times as long" in finding.headline


def test_that_microseconds_do_not_matter():
    slow = lambda step: 1e-5 if step <= 50 else 1e-3  # noqa: E731
    assert watch(DETECTOR, steps=80, time__reward=slow, step_time=0.5).names == []


def test_that_one_slow_step_is_none():
    assert watch(DETECTOR, steps=80, time__reward=lambda s: 5.0 if s == 60 else 0.01, step_time=1.0).names == []


def test_that_thirty_steps_are_needed():
    assert watch(DETECTOR, steps=29, time__reward=1.0, step_time=1.0).reading("slow_reward") is Missing.NOT_ENOUGH
