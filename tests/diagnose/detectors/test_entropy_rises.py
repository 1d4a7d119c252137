from grpo_gui.diagnose.detectors.entropy_rises import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def test_that_a_steady_rise_is_found():
    step, finding = watch(DETECTOR, steps=120, entropy=lambda step: 0.5 + 0.01 * step).first
    assert 40 < step < 60
    assert "times" in finding.headline


def test_that_noise_is_none():
    assert watch(DETECTOR, steps=200, entropy=(1.0 + noise(200, 0.2)).tolist()).names == []


def test_that_getting_back_what_was_lost_in_the_first_steps_is_none():
    def quick(step):
        return 0.6 if step <= 5 else 0.05 + 0.002 * step

    assert watch(DETECTOR, steps=150, entropy=quick).names == []


def test_that_forty_steps_are_needed():
    assert watch(DETECTOR, steps=39, entropy=1.0).reading("entropy_rises") is Missing.NOT_ENOUGH
