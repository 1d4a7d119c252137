from grpo_gui.diagnose.detectors.weights_stuck import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import watch


def test_that_weights_that_stay_for_three_steps_are_found():
    watched = watch(DETECTOR, steps=6, check__weights_change=0.0, learning_rate=1e-4, grad_norm=1.0)
    assert watched.first[0] == 3
    assert "not being changed" in watched.first[1].headline


def test_that_nothing_to_learn_explains_it():
    assert watch(DETECTOR, steps=6, check__weights_change=0.0, learning_rate=1e-4, grad_norm=0.0).names == []
    assert watch(DETECTOR, steps=6, check__weights_change=0.0, learning_rate=0.0, grad_norm=1.0).names == []


def test_that_a_leap_is_found():
    change = lambda step: 0.3 if step == 4 else 0.001  # noqa: E731
    watched = watch(DETECTOR, steps=6, check__weights_change=change, learning_rate=1e-1, grad_norm=1.0)
    assert watched.first[0] == 4
    assert "30 %" in watched.first[1].headline


def test_that_it_must_be_recorded():
    assert watch(DETECTOR, steps=6, grad_norm=1.0).reading("weights_stuck") is Missing.NOT_RECORDED
