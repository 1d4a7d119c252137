from dataclasses import replace

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.presets import PRESETS, preset_config, run_name
from grpo_gui.training.validation import problems


@pytest.mark.parametrize("name", PRESETS)
def test_that_every_preset_can_be_run_and_says_what_it_shows(name: str):
    preset = PRESETS[name]
    assert problems(preset.config) == {}
    assert preset.config.preset == preset.name == name
    assert preset.label
    assert preset.description.endswith(".")


def test_that_the_default_preset_is_the_config_as_it_stands():
    assert preset_config("default") == TrainConfig()


@pytest.mark.parametrize("name", ["seed", "trl", "dapo", "dr-grpo", "gspo"])
def test_that_a_loss_preset_keeps_the_learning_rate_of_the_model_at_hand(name: str):
    assert preset_config(name).learning_rate == TrainConfig().learning_rate


def test_that_an_unknown_preset_is_refused_with_the_choices():
    with pytest.raises(BadInputError, match="dapo"):
        preset_config("fast")


def test_that_a_run_is_named_after_its_task():
    assert run_name(TrainConfig()) == "compare"
    assert run_name(preset_config("gspo")) == "compare, gspo"
    assert run_name(replace(TrainConfig(), task="file", prompt_file="/home/me/questions.csv")) == "questions.csv"
