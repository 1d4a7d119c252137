from dataclasses import replace

from grpo_gui.handover.differences import differences
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.presets import preset_config

PLAIN = replace(TrainConfig(), num_iterations=1, eval_steps=0)


def test_that_a_run_that_trl_can_do_whole_has_only_the_differences_of_steering():
    assert [sentence.split(",")[0] for sentence in differences(PLAIN)] == [
        "While TRL trains",
        "When it has ended it is not resumed from here; its checkpoints stay in the run's folder.",
    ]


def test_that_the_seed_preset_names_its_deviation_and_its_epsilon():
    found = " ".join(differences(preset_config("seed")))
    assert "no population one (advantage_std)" in found
    assert "not 1e-08 (advantage_eps)" in found


def test_that_inner_updates_are_said_to_be_steps_of_trl():
    assert any(
        "40 steps with 4 inner updates each are its 160" in one
        for one in differences(replace(PLAIN, steps=40, num_iterations=4))
    )


def test_that_each_way_of_rating_has_its_own_sentence():
    human = replace(PLAIN, rewards=(RewardSpec("me", "human"),))
    assert any("late ratings" in one for one in differences(human))
    assert any("TRL waits until" in one for one in differences(replace(human, rating_mode="wait")))


def test_that_what_else_is_left_out_is_said():
    config = replace(PLAIN, steps=10_000, save_best=True, eval_steps=5, temperature=0.7)
    found = " ".join(differences(replace(config, task="file", prompt_file="a.jsonl")))
    for part in ("(save_best)", "sampled at temperature 0.7", "not how many answers are right", "are not cut", "50000"):
        assert part in found
