import math
from dataclasses import replace

import pytest

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.sample_values import is_repetitive, outcomes, sample_values
from tests.diagnose.runs import Completion, Group, group_of, logps

FACTS = RunFacts(num_generations=4, scale_rewards="group")


def test_that_no_samples_give_no_values():
    assert sample_values((), FACTS) == {}
    assert sample_values((Group(),), FACTS) == {}


def test_that_groups_are_counted_by_hand():
    groups = (
        group_of([1, 1, 1, 1], ["a"] * 4),
        group_of([0, 0, 0, 0], ["b"] * 4, index=1),
        group_of([0, 0, 0, 0], ["a", "b", "c", "d"], index=2),
        group_of([1, 0, 0, 0], ["a", "b", "b", "b"], index=3),
    )
    values = sample_values(groups, FACTS)
    assert values["samples/distinct"] == pytest.approx((0.25 + 0.25 + 1 + 0.5) / 4)
    assert values["samples/dead_groups"] == 0.75
    assert values["samples/dead_right"] == 0.25
    assert values["samples/dead_wrong"] == 0.5
    assert values["samples/dead_copies"] == 0.25
    assert values["samples/copies"] == 0.5
    assert values["samples/groups_not_right"] == 0.75
    assert values["samples/right"] == 5 / 16


def test_that_prompts_without_answers_are_neither_right_nor_wrong():
    values = sample_values((group_of([1, 1], correct=None),), RunFacts())
    assert (values["samples/dead_right"], values["samples/dead_wrong"]) == (0, 0)
    assert "samples/right" not in values


def test_that_the_effective_batch_counts_the_answers_that_matter():
    even = group_of([1, 0, 1, 0])
    assert sample_values((even,), FACTS)["samples/effective_batch"] == pytest.approx(4)
    dead = group_of([0, 0, 0, 0], index=1)
    assert sample_values((even, dead), FACTS)["samples/effective_batch"] == pytest.approx(4)
    assert sample_values((dead,), FACTS)["samples/effective_batch"] == 0


def test_that_groups_of_different_sizes_and_abstentions_are_read():
    groups = (group_of([1, 0, None]), group_of([1, 1, 0, 0], index=1))
    values = sample_values(groups, FACTS)
    assert values["samples/group_size_error"] == 1
    assert values["samples/group_sum_error"] < 1e-9
    assert values["samples/abstains/exact"] == pytest.approx(1 / 7)
    assert values["samples/dead_groups"] == 0


@pytest.mark.parametrize(("others", "dead"), [([0.0, 1.0], 0.5), ([0.0, None], 1.0)])
def test_that_a_group_whose_rewards_are_all_infinite_is_dead(others, dead):
    infinite = tuple(replace(one, reward=math.inf) for one in group_of([1, 1]).completions)
    groups = (Group(completions=infinite), group_of(others, index=1))
    assert sample_values(groups, FACTS)["samples/dead_groups"] == dead


def test_that_length_and_reward_are_correlated_inside_groups():
    up, down = group_of([0, 1, 2], lengths=[2, 3, 4]), group_of([2, 1, 0], lengths=[2, 3, 4], index=1)
    values = sample_values((up, up, down), RunFacts())
    assert values["samples/length_rho_sum"] == pytest.approx(1.0)
    assert (values["samples/length_rho_positive"], values["samples/length_rho_negative"]) == (2, 1)


def test_that_sources_explain_their_share():
    ones = tuple(
        Completion(text=str(i), reward=a + b, rewards=(("a", a), ("b", b)))
        for i, (a, b) in enumerate([(0.0, 0.0), (1.0, 0.0), (0.0, 2.0), (1.0, 2.0)])
    )
    values = sample_values((Group(completions=ones),), RunFacts())
    assert values["samples/explains/a"] == pytest.approx(0.2)  # variance .25 of 1.25
    assert values["samples/explains/b"] == pytest.approx(0.8)
    assert (values["samples/lowest/b"], values["samples/highest/b"]) == (0, 2)


def test_that_ratios_are_those_of_all_tokens():
    one = Completion(old_logps=logps(-1.0, -2.0), logps=logps(-1.0, -2.0 + math.log(2)), ref_logps=logps(-1.0, -2.0))
    values = sample_values((Group(completions=(one, one)),), RunFacts())
    assert values["samples/ratio_mean"] == pytest.approx(1.5)
    assert values["samples/effective_share"] == pytest.approx(9 / (2 * 5))
    assert values["samples/logp_max"] == pytest.approx(-1.0)
    assert values["samples/reference_kl"] == 0


def test_that_a_part_of_the_samples_has_no_sums():
    values = sample_values((group_of([1, 0]),), RunFacts(partial_samples=True))
    assert "samples/effective_batch" not in values
    assert "waste/tokens" not in values
    assert "samples/distinct" in values


def test_that_repetition_is_told_from_shortness():
    assert is_repetitive(Completion(text="x", token_ids=(5,) * 12))
    assert is_repetitive(Completion(text="again and " * 40, token_ids=tuple(range(80))))
    assert not is_repetitive(Completion(text="111", token_ids=(9, 9, 9, 2)))
    assert not is_repetitive(Completion(text="\ud800 odd text", token_ids=(1, 2, 3)))
    varied = " ".join(str(number * number) for number in range(60))
    assert not is_repetitive(Completion(text=varied, token_ids=tuple(range(60))))


def test_that_outcomes_leave_out_prompts_without_answers():
    unknown = replace(group_of([1, 1], correct=None), prompt="unknown")
    known = replace(group_of([1, 0]), prompt="known")
    assert list(outcomes((unknown, known))) == [("known", 1, 2)]
