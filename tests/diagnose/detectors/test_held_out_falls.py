from grpo_gui.diagnose.detectors.held_out_falls import DETECTOR
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import noise, watch


def every_ten(values):
    return lambda step: float(values[step // 10 - 1]) if step % 10 == 0 else None


def rises(step):
    return 0.3 + 0.003 * step


def test_that_a_held_out_result_that_falls_while_the_reward_rises_is_severe():
    held_out = [0.4 - 0.02 * i + x for i, x in enumerate(noise(20, 0.01))]
    step, finding = watch(DETECTOR, steps=200, reward=rises, reward_std=0.5, eval__accuracy=every_ten(held_out)).first
    assert 60 < step < 110
    assert finding.severity is Severity.SEVERE


def test_that_one_that_stays_behind_a_much_higher_reward_is_a_warning():
    held_out = 0.3 + noise(40, 0.01)
    watched = watch(DETECTOR, steps=400, reward=rises, reward_std=0.5, eval__accuracy=every_ten(held_out))
    assert watched.first[1].severity is Severity.WARNING
    assert "no better" in watched.first[1].headline


def test_that_both_rising_and_both_falling_are_none():
    up = [0.3 + 0.03 * i + x for i, x in enumerate(noise(20, 0.03))]
    assert watch(DETECTOR, steps=200, reward=rises, reward_std=0.5, eval__accuracy=every_ten(up)).names == []
    down = [0.6 - 0.02 * i for i in range(20)]
    falls = lambda step: 0.6 - 0.002 * step  # noqa: E731
    assert watch(DETECTOR, steps=200, reward=falls, reward_std=0.5, eval__accuracy=every_ten(down)).names == []


def test_that_noise_of_small_evaluations_is_none():
    for seed in range(10):
        held_out = 0.9 + noise(40, 0.04, seed)
        watched = watch(DETECTOR, steps=400, reward=0.9, reward_std=0.2, eval__accuracy=every_ten(held_out))
        assert watched.names == []


def test_that_six_evaluations_are_needed():
    watched = watch(DETECTOR, steps=55, reward=rises, reward_std=0.5, eval__accuracy=every_ten([0.5] * 5))
    assert watched.reading("held_out_falls") is Missing.NOT_ENOUGH
