from grpo_gui.diagnose.detectors.truncation import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.reading import Missing, Severity
from tests.diagnose.runs import Group, group_of, watch


def test_that_a_tenth_cut_off_is_found_and_half_is_severe():
    step, finding = watch(
        DETECTOR, steps=40, facts=RunFacts(max_completion_length=16), completions__clipped_ratio=0.12
    ).first
    assert (step, finding.severity) == (14, Severity.WARNING)
    assert (finding.action.setting, finding.action.value) == ("max_completion_length", 32)
    assert watch(DETECTOR, steps=40, completions__clipped_ratio=0.9).first[1].severity is Severity.SEVERE


def test_that_less_is_none():
    assert watch(DETECTOR, steps=100, completions__clipped_ratio=0.08).names == []


def test_that_ten_steps_are_needed():
    assert watch(DETECTOR, steps=9, completions__clipped_ratio=1.0).reading("truncation") is Missing.NOT_ENOUGH


def test_that_the_rewards_of_both_kinds_are_compared():
    whole, cut = group_of([1, 0, 1, 1]), group_of([0, 0, 0, 0], truncated=True, index=1)
    watched = watch(DETECTOR, steps=20, groups=lambda step: (whole, cut), completions__clipped_ratio=0.5)
    finding = watched.first[1]
    assert "Cut-off answers earn 0 on average, the others 0.75" in finding.detail
    assert {ref.group for ref in finding.evidence} == {1}


def test_that_equal_rewards_are_not_mentioned():
    same = (group_of([1, 0, 1, 0]), Group(1, "p", group_of([1, 0, 1, 0], truncated=True).completions))
    watched = watch(DETECTOR, steps=20, groups=lambda step: same, completions__clipped_ratio=0.5)
    assert "Cut-off answers" not in watched.first[1].detail
