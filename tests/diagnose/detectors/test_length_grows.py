from grpo_gui.diagnose.detectors.length_grows import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing
from tests.diagnose.runs import noise, watch


def grows(step):
    return 400 + 3.0 * step


def test_that_answers_that_keep_growing_are_found():
    step, finding = watch(
        DETECTOR, steps=120, facts=RunFacts(max_completion_length=900), completions__mean_length=grows
    ).first
    assert 55 < step < 80
    assert "At 900 tokens they are cut off" in finding.detail


def test_that_growth_with_better_held_out_results_is_none():
    watched = watch(
        DETECTOR,
        steps=200,
        completions__mean_length=grows,
        eval__accuracy=lambda step: 0.2 + step / 400 if step % 5 == 0 else None,
    )
    assert watched.names == []


def test_that_noise_and_a_little_growth_are_none():
    assert watch(DETECTOR, steps=200, completions__mean_length=(400 + noise(200, 80)).tolist()).names == []
    assert watch(DETECTOR, steps=200, completions__mean_length=lambda step: 400 + 0.7 * step).names == []


def test_that_forty_steps_are_needed():
    assert watch(DETECTOR, steps=39, completions__mean_length=5.0).reading("length_grows") is Missing.NOT_ENOUGH
