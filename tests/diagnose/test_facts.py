import math

import pytest

from grpo_gui.diagnose.facts import RunFacts, facts_from_config
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.validation import config_to_json


def facts_of(config):
    import json

    return facts_from_config(json.loads(config_to_json(config)))


def test_that_our_own_config_is_read_whole():
    facts = facts_of(TrainConfig(rewards=(RewardSpec("exact", "exact"), RewardSpec("short", "length", 0.5, "3"))))
    assert (facts.num_generations, facts.prompts_per_step, facts.num_iterations, facts.steps) == (8, 8, 2, 120)
    assert (facts.learning_rate, facts.beta, facts.epsilon, facts.epsilon_high) == (3e-4, 0.02, 0.2, 0.2)
    assert facts.sources == (("exact", "exact", 1.0), ("short", "length", 0.5))
    assert facts.reward_ceiling == 1.5
    assert facts.auxiliary_sources == ("short",)
    assert facts.advantage_bound == pytest.approx(7 / math.sqrt(8))


def test_that_the_bound_follows_the_std_and_is_unknown_for_other_scales():
    assert facts_of(TrainConfig(advantage_std="population")).advantage_bound == pytest.approx(math.sqrt(7))
    assert facts_of(TrainConfig(scale_rewards="none")).advantage_bound is None
    assert facts_of(TrainConfig(multi_objective_aggregation="normalize_then_sum")).advantage_bound is None


def test_that_an_unbounded_reward_has_no_ceiling():
    assert facts_of(TrainConfig(rewards=(RewardSpec("r", "contains_plus_length"),))).reward_ceiling is None
    assert RunFacts().reward_ceiling is None
    assert RunFacts().auxiliary_sources is None


def test_that_trls_arguments_are_read_and_nonsense_is_unknown():
    facts = facts_from_config(
        {"num_generations": 16, "max_steps": 500, "beta": 0.0, "bf16": True, "scale_rewards": "group"}
    )
    assert (facts.num_generations, facts.steps, facts.beta, facts.bf16) == (16, 500, 0.0, True)
    odd = facts_from_config({"num_generations": "many", "rewards": ["exact"], "learning_rate": None, "beta": True})
    assert (odd.num_generations, odd.sources, odd.learning_rate, odd.beta) == (None, (), None, None)


HUMAN = RewardSpec("people", "human")


def test_that_a_run_with_ratings_of_people_is_known_by_its_rewards():
    rated, both = (
        facts_of(TrainConfig(rewards=(HUMAN,))),
        facts_of(TrainConfig(rewards=(HUMAN, *TrainConfig().rewards))),
    )
    assert (rated.late_rewards, rated.only_people_judge) == (True, True)
    assert (both.late_rewards, both.only_people_judge) == (True, False)
    assert both.auxiliary_sources is None
    alone = facts_of(TrainConfig())
    assert (alone.late_rewards, alone.only_people_judge) == (False, False)
    assert not RunFacts().only_people_judge
