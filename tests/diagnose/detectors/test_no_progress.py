from grpo_gui.diagnose.detectors.no_progress import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def test_that_a_flat_reward_over_a_whole_run_is_found():
    values = (0.4 + noise(300, 0.02)).tolist()
    step, finding = watch(DETECTOR, steps=300, facts=RunFacts(learning_rate=1e-6), reward=values, reward_std=0.5).first
    assert 120 <= step <= 260
    assert finding.action.value == 3e-6


def test_that_a_rise_and_a_plateau_after_one_are_none():
    rising = (0.2 + 0.001 * i + x for i, x in enumerate(noise(300, 0.05)))
    assert watch(DETECTOR, steps=300, reward=list(rising), reward_std=0.5).names == []
    plateau = lambda step: min(0.7, 0.2 + 0.01 * step)  # noqa: E731
    assert watch(DETECTOR, steps=150, reward=plateau, reward_std=0.5).names == []


def test_that_a_reward_that_is_full_is_none():
    facts = RunFacts(sources=(("exact", "exact", 1.0),))
    assert watch(DETECTOR, steps=300, facts=facts, reward=0.95, reward_std=0.2).names == []


def test_that_noise_that_hides_everything_is_none():
    assert watch(DETECTOR, steps=150, reward=(0.4 + noise(150, 0.3)).tolist(), reward_std=0.5).names == []


def test_that_120_steps_are_needed():
    assert watch(DETECTOR, steps=119, reward=0.4, reward_std=0.5).reading("no_progress") is Missing.NOT_ENOUGH
