import pytest

from grpo_gui.tasks.problem import Problem
from grpo_gui.training.evaluation import evaluate
from tests.training.fakes import tiny_config, tiny_learner


def problems(answer: str | None, count: int = 8) -> list[Problem]:
    return [Problem("add", f"What is {number} + 1?", answer) for number in range(count)]


def test_that_it_is_the_same_each_time_and_draws_nothing_from_the_training(tiny_model):
    config = tiny_config(tiny_model)
    learner = tiny_learner(config)
    before = learner.random_state()
    first = evaluate(learner.policy, problems("7"), learner.scorer, config)
    assert evaluate(learner.policy, problems("7"), learner.scorer, config) == first
    after = learner.random_state()
    assert before.sampling.equal(after.sampling)
    assert before.task == after.task


def test_that_it_measures_what_can_be_measured(tiny_model):
    config = tiny_config(tiny_model)
    learner = tiny_learner(config)
    assert evaluate(learner.policy, problems("7"), learner.scorer, config)["eval/accuracy"] == 0
    assert set(evaluate(learner.policy, problems(None), learner.scorer, config)) == {"eval/reward"}
    mixed = [*problems("7", 2), Problem("sort", "Sort the digits: 21", "12")]
    names = {"eval/reward", "eval/accuracy", "eval/add/accuracy", "eval/sort/accuracy"}
    assert set(evaluate(learner.policy, mixed, learner.scorer, config)) == names


def test_that_the_training_temperature_does_not_enter(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model))
    metrics = [
        evaluate(learner.policy, problems("7"), learner.scorer, tiny_config(tiny_model, temperature=temperature))
        for temperature in (0.1, 1.0)
    ]
    assert metrics[0] == metrics[1]


@pytest.mark.parametrize("count", [1, 16, 17, 40])
def test_that_any_number_of_prompts_is_evaluated(tiny_model, count: int):
    config = tiny_config(tiny_model)  # 16 completions at once
    learner = tiny_learner(config)
    assert evaluate(learner.policy, problems("7", count), learner.scorer, config)["eval/accuracy"] == 0
