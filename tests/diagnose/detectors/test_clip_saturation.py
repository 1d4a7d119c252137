from grpo_gui.diagnose.detectors.clip_saturation import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import watch


def test_that_a_fifth_of_the_tokens_clipped_is_found():
    step, finding = watch(DETECTOR, steps=60, facts=RunFacts(learning_rate=3e-4), clip_ratio__region_mean=0.25).first
    assert (step, finding.severity) == (14, Severity.WARNING)
    assert finding.action.value == 1e-4
    assert watch(DETECTOR, steps=60, clip_ratio__region_mean=0.45).first[1].severity is Severity.SEVERE


def test_that_less_is_none():
    assert watch(DETECTOR, steps=60, clip_ratio__region_mean=0.15).names == []


def test_that_one_sided_clipping_is_a_note():
    watched = watch(
        DETECTOR, steps=60, clip_ratio__region_mean=0.13, clip_ratio__low_mean=0.12, clip_ratio__high_mean=0.01
    )
    assert watched.first[1].severity is Severity.NOTE
    assert watched.first[1].action.setting == "epsilon_high"
    small = watch(
        DETECTOR, steps=60, clip_ratio__region_mean=0.02, clip_ratio__low_mean=0.02, clip_ratio__high_mean=0.0
    )
    assert small.names == []


def test_that_one_update_per_rollout_clips_nothing_by_construction():
    watched = watch(DETECTOR, steps=60, facts=RunFacts(num_iterations=1), clip_ratio__region_mean=0.0)
    assert watched.reading("clip_saturation") is Missing.BY_CONSTRUCTION
    assert watched.names == []


def test_that_whole_sequences_may_be_clipped_more_often():
    facts = RunFacts(importance_sampling_level="sequence")
    assert watch(DETECTOR, steps=60, facts=facts, clip_ratio__region_mean=0.5).names == []
    assert watch(DETECTOR, steps=60, facts=facts, clip_ratio__region_mean=0.9).names == ["clip_saturation"]
