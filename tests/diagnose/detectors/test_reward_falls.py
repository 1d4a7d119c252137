from grpo_gui.diagnose.detectors.reward_falls import DETECTOR
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def test_that_a_reward_that_breaks_down_is_found_within_a_dozen_steps():
    def breaks(step):
        return 0.6 if step <= 20 else 0.1

    step, finding = watch(DETECTOR, steps=60, reward=breaks, reward_std=0.45).first
    assert (step, finding.onset) == (25, 23)
    assert "from 0.6 to" in finding.headline


def test_that_noise_and_a_rising_reward_are_none():
    noisy = (0.5 + noise(300, 0.1)).tolist()
    assert watch(DETECTOR, steps=300, reward=noisy, reward_std=0.5).names == []
    assert watch(DETECTOR, steps=300, reward=lambda step: step / 300, reward_std=0.5).names == []


def test_that_a_single_bad_step_is_none():
    assert watch(DETECTOR, steps=60, reward=lambda step: 0.0 if step == 30 else 0.9, reward_std=0.3).names == []


def test_that_ten_steps_are_needed():
    assert watch(DETECTOR, steps=9, reward=0.5, reward_std=0.5).reading("reward_falls") is Missing.NOT_ENOUGH
