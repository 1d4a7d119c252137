import math

from grpo_gui.diagnose.detectors.kl_runaway import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import noise, watch


def test_that_a_kl_above_one_is_severe_within_fifteen_steps():
    step, finding = watch(DETECTOR, steps=30, facts=RunFacts(learning_rate=3e-3), kl=2.0).first
    assert (step, finding.onset, finding.severity) == (14, 10, Severity.SEVERE)
    assert (finding.action.setting, finding.action.value) == ("learning_rate", 3e-4)


def test_that_a_kl_that_speeds_up_is_found_before_it_is_high():
    def grows(step):
        return 0.04 if step <= 80 else 0.04 * math.exp((step - 80) / 60)

    step, finding = watch(DETECTOR, steps=200, kl=grows).first
    assert 120 < step < 170
    assert (finding.severity, finding.value < 0.3) == (Severity.WARNING, True)
    assert "faster and faster" in finding.headline


def test_that_a_steady_rise_and_single_spikes_are_none():
    assert watch(DETECTOR, steps=300, kl=lambda step: 0.002 * step).names == []
    assert watch(DETECTOR, steps=300, kl=lambda step: 50.0 if step % 25 == 0 else 0.05).names == []


def test_that_a_kl_of_exactly_zero_is_none():
    assert watch(DETECTOR, steps=300, facts=RunFacts(beta=0.0), kl=0.0).names == []


def test_that_noise_around_a_level_is_none():
    values = 0.2 + abs(noise(400, 0.1, seed=3))
    assert watch(DETECTOR, steps=400, kl=values.tolist()).names == []


def test_that_a_run_without_kl_is_told_so():
    assert watch(DETECTOR, steps=30, reward=1.0).reading("kl_runaway") is Missing.NOT_RECORDED
