from dataclasses import replace

import pytest

from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.presets import preset_config
from grpo_gui.training.rating_desk import waiting_sentence
from grpo_gui.training.rating_rules import awaited_step, has_human_reward, rating_advice, rating_rules
from grpo_gui.training.validation import advice, config_from_json, config_to_json, parse_override, problems

CONFIG = preset_config("rate-by-hand")
BLEND = (RewardSpec("partial", "partial", 1.0), RewardSpec("human", "human", 2.0))


def problem(field, **changes):
    return problems(replace(CONFIG, **changes)).get(field, "")


def test_that_the_step_that_waits_is_read_from_the_status_and_from_no_other():
    assert awaited_step(waiting_sentence(12, 0, 2, 8, 3.0)) == 12
    assert awaited_step("Training waits for the database.") is None


def test_that_a_blend_with_people_must_be_normalised_first():
    assert "normalize_then_sum" in problem(
        "multi_objective_aggregation", multi_objective_aggregation="sum_then_normalize"
    )
    assert problems(replace(CONFIG, rewards=BLEND)) == {}
    assert problems(TrainConfig()) == {}


@pytest.mark.parametrize("spec", [RewardSpec("mara", "human"), RewardSpec("human", "exact")])
def test_that_the_reward_of_people_has_its_own_name(spec):
    assert "is named 'human'" in problem("rewards", rewards=(spec,))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("rating_mode", "often", "one of wait, async, offline"),
        ("rating_quorum", 0, "from 1 to the 8"),
        ("rating_quorum", 9, "from 1 to the 8"),
        ("rating_max_age", 0, "must be 1 or more"),
        ("rating_late_share", 0.0, "above 0 and at most 0.5"),
        ("rating_late_share", 0.6, "above 0 and at most 0.5"),
        ("rating_late_share", float("nan"), "above 0 and at most 0.5"),
        ("rating_late_share", 0.1, "would never be used"),
    ],
)
def test_that_settings_that_cannot_work_are_refused_with_a_sentence(field, value, words):
    assert words in problem(field, **{field: value})


def test_that_a_quarter_of_two_prompts_holds_no_group():
    assert "take more prompts_per_step" in problem("rating_late_share", prompts_per_step=2)
    assert problem("rating_late_share", prompts_per_step=3) == ""


def test_that_the_settings_of_ratings_mean_nothing_without_people():
    assert problems(replace(TrainConfig(), prompts_per_step=1, rating_quorum=5)) == {}
    assert not has_human_reward(TrainConfig())
    assert rating_rules(TrainConfig()) is None


def test_that_the_rules_say_what_the_config_says():
    rules = rating_rules(replace(CONFIG, rewards=BLEND, rating_mode="wait", rating_shrink=False), "offline")
    assert (rules.mode, rules.weight, rules.is_alone, rules.shrinks) == ("offline", 2.0, False, False)
    assert rating_rules(CONFIG).is_alone
    assert rating_rules(replace(CONFIG, rewards=(RewardSpec("exact", "exact", 0.0), *CONFIG.rewards))).is_alone


def test_that_a_run_that_needs_people_says_so_when_it_starts():
    assert "stays as it is until groups are rated" in advice(replace(CONFIG, rating_mode="async"))["rating_mode"]
    assert "until 2 of its groups are rated" in rating_advice(CONFIG)
    assert "then resume it" in rating_advice(replace(CONFIG, rating_mode="offline"))
    assert rating_advice(replace(CONFIG, rewards=BLEND, rating_mode="async")) is None
    assert rating_advice(TrainConfig()) is None


def test_that_the_settings_are_kept_and_can_be_given_on_the_command_line():
    config = parse_override(parse_override(CONFIG, "rating_mode=offline"), "rating_shrink=false")
    assert (config.rating_mode, config.rating_shrink) == ("offline", False)
    assert config_from_json(config_to_json(config)) == config
