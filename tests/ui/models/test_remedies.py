from dataclasses import replace

import pytest

from grpo_gui.commands import SetHyperparameters
from grpo_gui.diagnose.reading import Action
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.hyperparameters import current_values
from grpo_gui.ui.models.remedies import DropPrompts, Live, NewRun, remedies_for
from tests.ui.broken_run import finding

CONFIG = TrainConfig(task="sort")


def remedies(setting, value=None, *, config=CONFIG, can_change=True):
    one = finding(action=Action("Do it.", setting, value, live=True))
    return remedies_for(one, config, current_values(config, ()), 31, can_change=can_change)


def test_that_a_learning_rate_is_lowered_in_the_running_trainer():
    live, new = remedies("learning_rate", 1e-4)
    assert live == Live(live.label, live.hint, SetHyperparameters(learning_rate=1e-4))
    assert live.label == "Learning rate 0.0001 now"
    assert "step 31" in live.hint
    assert isinstance(new, NewRun)
    assert new.config == replace(CONFIG, learning_rate=1e-4)


def test_that_a_finished_run_gets_a_new_run_in_place_of_a_change():
    (new,) = remedies("temperature", 1.2, can_change=False)
    assert isinstance(new, NewRun)
    assert new.config.temperature == 1.2


def test_that_beta_is_doubled_where_the_finding_names_no_value():
    live, _ = remedies("beta")
    assert live.command == SetHyperparameters(beta=0.04)
    assert remedies("beta", config=replace(CONFIG, beta=0.1))[0].command.beta == pytest.approx(0.2)


def test_that_what_is_set_already_is_not_proposed():
    assert remedies("temperature", 1.0) == ()


def test_that_going_back_stays_possible_when_the_value_is_set():
    back = finding(action=Action("Go back to a snapshot from before this step.", "temperature", 1.0, live=True))
    (new,) = remedies_for(back, CONFIG, current_values(CONFIG, ()), 31, can_change=True)
    assert isinstance(new, NewRun)


def test_that_a_value_which_no_run_may_have_is_not_proposed():
    assert remedies("learning_rate", -1.0) == ()


def test_that_more_answers_take_a_new_run():
    (new,) = remedies("num_generations", 16.0)
    assert new.label == "New run with 16 answers for each prompt"
    assert new.config.num_generations == 16


def test_that_prompts_a_step_are_doubled():
    (new,) = remedies("prompts_per_step")
    assert new.config.prompts_per_step == 16


def test_that_a_built_in_task_gets_larger_problems():
    (new,) = remedies("max_size")
    assert (new.config.min_size, new.config.max_size) == (6, 8)
    assert new.label == "New run with 6 to 8 digits"


def test_that_a_task_at_its_largest_size_cannot_grow():
    assert remedies("max_size", config=replace(CONFIG, min_size=32, max_size=32)) == ()


@pytest.mark.parametrize(("setting", "solved"), [("max_size", True), ("prompt_file", False)])
def test_that_prompts_of_a_data_file_are_left_out(setting, solved):
    (drop,) = remedies(setting, config=replace(CONFIG, task="file", prompt_file="data.jsonl"))
    assert isinstance(drop, DropPrompts)
    assert drop.always_solved is solved


def test_that_generated_data_cannot_be_cut():
    assert remedies("prompt_file", config=replace(CONFIG, task="file", prompt_file="reasoning_gym:chain_sum")) == ()


def test_that_an_action_without_a_setting_has_no_button():
    assert remedies("") == ()
