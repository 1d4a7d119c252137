import math
from dataclasses import replace

import numpy as np
import pytest

from grpo_gui.diagnose.evidence import StepGroups
from grpo_gui.diagnose.what_if import Settings, what_if
from grpo_gui.errors import BadInputError
from tests.diagnose.runs import Completion, Group, group_of, logps


def steps_of(*groups):
    return [StepGroups(1, groups)]


def test_that_the_same_settings_give_the_same_curves():
    result = what_if(steps_of(group_of([1, 0, 0, 0]), group_of([1, 1, 1, 1], index=1)), Settings())
    assert result.steps.tolist() == [1]
    assert result.reward[0] == pytest.approx(5 / 8)
    assert result.dead_groups[0] == 0.5
    advantages = [1.4997, -0.4999, -0.4999, -0.4999, 0, 0, 0, 0]
    assert result.advantage_std[0] == pytest.approx(np.std(advantages, ddof=1), abs=1e-3)


def test_that_smaller_groups_die_more_often():
    """One right of four: a pair holds it in half of the draws."""
    groups = [group_of([1, 0, 0, 0], index=i) for i in range(40)]
    halves = what_if(steps_of(*groups), Settings(group_size=2))
    assert halves.dead_groups[0] == pytest.approx(0.5, abs=0.08)
    assert what_if(steps_of(*groups), Settings(group_size=4)).dead_groups[0] == 0
    assert halves.reward[0] == pytest.approx(0.25, abs=0.05)


def test_that_larger_groups_cannot_be_made():
    with pytest.raises(BadInputError, match="hold 4 answers"):
        what_if(steps_of(group_of([1, 0, 0, 0])), Settings(group_size=8))
    with pytest.raises(BadInputError, match="at least 2"):
        what_if(steps_of(group_of([1, 0, 0, 0])), Settings(group_size=1))


def test_that_weights_change_reward_and_dead_groups():
    ones = tuple(
        Completion(text=str(i), reward=1.0, rewards=(("exact", exact), ("format", 1 - exact)))
        for i, exact in enumerate([1.0, 0.0, 1.0, 0.0])
    )
    group = Group(completions=ones)
    assert what_if(steps_of(group), Settings()).dead_groups[0] == 1
    lighter = what_if(steps_of(group), Settings(weights=(("format", 0.5),)))
    assert lighter.dead_groups[0] == 0
    assert lighter.reward[0] == pytest.approx((1 + 0.5) / 2)


def test_that_the_scale_mode_changes_the_advantages_alone():
    group = group_of([0.0, 0.1, 0.2, 0.3])
    scaled = what_if(steps_of(group), Settings())
    plain = what_if(steps_of(group), Settings(scale_rewards="none"))
    assert plain.reward[0] == scaled.reward[0]
    assert plain.advantage_std[0] == pytest.approx(np.std([-0.15, -0.05, 0.05, 0.15], ddof=1))
    assert scaled.advantage_std[0] > 5 * plain.advantage_std[0]


def test_that_a_wider_clip_clips_less():
    def one(gap, advantage_reward):
        return Completion(
            text=str(gap),
            reward=advantage_reward,
            rewards=(("exact", advantage_reward),),
            old_logps=logps(-1.0),
            logps=logps(-1.0 + math.log(gap)),
        )

    group = Group(completions=(one(1.3, 1.0), one(0.7, 0.0), one(1.0, 1.0), one(1.0, 0.0)))
    narrow = what_if(steps_of(group), Settings(epsilon=0.2))
    assert (narrow.clip_high[0], narrow.clip_low[0]) == (0.25, 0.25)
    higher = what_if(steps_of(group), Settings(epsilon=0.2, epsilon_high=0.5))
    assert (higher.clip_high[0], higher.clip_low[0]) == (0.0, 0.25)
    assert math.isnan(what_if(steps_of(group_of([1, 0])), Settings()).clip_low[0])


def test_that_ranks_have_unit_variance_whatever_the_rewards():
    wild = group_of([0.0, 1.0, 2.0, 1000.0])
    result = what_if(steps_of(wild), Settings(by_rank=True, scale_rewards="none", aggregation="sum_then_normalize"))
    # sqrt(3 * 3 / 5) / 3 times -3, -1, 1, 3
    assert result.advantage_std[0] == pytest.approx(math.sqrt(9 / 5) / 3 * math.sqrt(20 / 3))
    tied = what_if(steps_of(group_of([1.0, 1.0, 1.0, 1.0])), Settings(by_rank=True, scale_rewards="none"))
    assert tied.dead_groups[0] == 1


def test_that_unrated_answers_stay_unrated():
    group = group_of([1, 0, None, None])
    result = what_if(steps_of(group), Settings())
    assert result.reward[0] == 0.5
    assert not math.isnan(what_if(steps_of(group), Settings(by_rank=True)).advantage_std[0])


def test_that_steps_without_samples_are_left_out():
    steps = [
        StepGroups(1, ()),
        StepGroups(2, (group_of([1, 0]),)),
        StepGroups(3, (replace(group_of([1, 1]), index=0),)),
    ]
    assert what_if(steps, Settings()).steps.tolist() == [2, 3]
    assert what_if([], Settings()).steps.tolist() == []
