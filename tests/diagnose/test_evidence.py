from grpo_gui.diagnose.evidence import (
    MOST,
    SampleRef,
    StepGroups,
    completions_by,
    completions_where,
    groups_where,
    is_dead,
)
from tests.diagnose.runs import group_of

STEPS = [StepGroups(step, (group_of([1, 0]), group_of([0, 0], index=1))) for step in range(1, 8)]


def test_that_the_newest_groups_come_first_and_five_are_enough():
    found = groups_where(STEPS, is_dead)
    assert found == tuple(SampleRef(step, 1) for step in (7, 6, 5, 4, 3))
    assert len(found) == MOST


def test_that_one_completion_a_group_is_taken():
    assert completions_where(STEPS[:1], lambda one: one.reward == 0) == (SampleRef(1, 0, 1), SampleRef(1, 1, 0))


def test_that_the_largest_come_first():
    found = completions_by(STEPS[:2], lambda one: one.reward)
    assert {(ref.group, ref.completion) for ref in found[:2]} == {(0, 0)}
    assert completions_by(STEPS, lambda one: None) == ()


def test_that_without_samples_there_is_nothing_to_show():
    assert groups_where([], is_dead) == ()
