from grpo_gui.diagnose.detectors.step_time import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def test_that_steps_that_creep_up_are_found():
    values = [(2.0 + 0.05 * x) * (1 + 0.006 * max(0, step - 60)) for step, x in enumerate(noise(160))]
    step, finding = watch(DETECTOR, steps=160, step_time=values).first
    assert 95 < step < 130
    assert "times as long" in finding.headline


def test_that_a_busy_machine_is_none():
    jumps = [2.0 if (step // 30) % 2 else 5.0 for step in range(300)]
    assert (
        watch(DETECTOR, steps=300, step_time=[value + abs(x) for value, x in zip(jumps, noise(300), strict=True)]).names
        == []
    )


def test_that_a_single_jump_is_none():
    assert watch(DETECTOR, steps=200, step_time=lambda step: 1.0 if step < 100 else 1.6).names == []


def test_that_sixty_steps_are_needed():
    assert watch(DETECTOR, steps=59, step_time=1.0).reading("step_time") is Missing.NOT_ENOUGH
