from grpo_gui.diagnose.detectors.gradient_spikes import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def norms(spikes, count=200):
    values = 0.8 + noise(count, 0.08)
    for step in spikes:
        values[step - 1] *= 40
    return values.tolist()


def test_that_the_second_spike_in_a_hundred_steps_is_the_finding():
    step, finding = watch(DETECTOR, steps=200, grad_norm=norms([60, 90])).first
    assert step == finding.onset == 90
    assert "2 of the last 100 steps" in finding.detail


def test_that_one_spike_and_spikes_far_apart_are_none():
    assert watch(DETECTOR, steps=200, grad_norm=norms([60])).names == []
    assert watch(DETECTOR, steps=200, grad_norm=norms([40, 150])).names == []


def test_that_steps_without_gradient_do_not_make_the_others_spikes():
    values = [0.5 if step % 3 == 0 else 0.001 for step in range(200)]
    assert watch(DETECTOR, steps=200, grad_norm=values).names == []


def test_that_twenty_steps_are_needed():
    assert watch(DETECTOR, steps=20, grad_norm=1.0).reading("gradient_spikes") is Missing.NOT_ENOUGH
