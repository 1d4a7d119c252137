from dataclasses import replace

from grpo_gui.diagnose.detectors.group_sums import DETECTOR
from grpo_gui.diagnose.facts import RunFacts
from tests.diagnose.runs import group_of, watch

FACTS = RunFacts(num_generations=4, scale_rewards="group")
GOOD = group_of([1, 0, 0, 0])


def shifted(group, shift):
    return replace(group, completions=tuple(replace(one, advantage=one.advantage + shift) for one in group.completions))


def found(*groups):
    watched = watch(DETECTOR, steps=2, facts=FACTS, groups=lambda step: groups)
    return watched.first[1] if watched.changes else None


def test_that_right_groups_are_none():
    assert found(GOOD, replace(GOOD, index=1), replace(group_of([None, 1, 0, None]), index=2)) is None


def test_that_a_sum_that_is_not_zero_is_found():
    finding = found(shifted(GOOD, 0.01))
    assert "adds up to 0.04" in finding.detail
    assert finding.pauses


def test_that_an_advantage_beyond_the_bound_is_found():
    ones = tuple(replace(one, advantage=5 * one.advantage) for one in GOOD.completions)
    assert "more than it can in a group of 4 answers" in found(replace(GOOD, completions=ones)).detail


def test_that_a_wrong_size_and_an_index_used_twice_are_found():
    assert "do not have 4 answers" in found(group_of([1, 0])).detail
    assert "number of another group" in found(GOOD, GOOD).detail


def test_that_a_part_of_the_samples_cannot_be_judged():
    watched = watch(
        DETECTOR, steps=2, facts=replace(FACTS, partial_samples=True), groups=lambda s: (shifted(GOOD, 1.0),)
    )
    assert watched.names == []
