import queue

import pytest

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.errors import TrainingError
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.first_step import first_step_metrics
from grpo_gui.training.trainer import Trainer
from tests.training.fakes import Sink, tiny_config, tiny_learner


def never():
    return None


def metrics_of(tiny_model, *rewards):
    learner = tiny_learner(tiny_config(tiny_model, rewards=rewards))
    finished = learner.do_step(never)
    return first_step_metrics(learner.config, learner.scorer, finished.rollout)


def findings_of(metrics):
    diagnosis = Diagnosis(RunFacts())
    diagnosis.feed_step(1, metrics)
    return [finding.detector for finding in diagnosis.findings]


@pytest.mark.parametrize("kind", ["exact", "numeric", "partial"])
def test_that_rewards_that_judge_the_answer_pay_no_nonsense(tiny_model, kind):
    metrics = metrics_of(tiny_model, RewardSpec(kind, kind))
    assert {"fuzz/empty", "fuzz/prompt_echo", "fuzz/repeated_token", "fuzz/all_answers", "fuzz/very_long"} <= set(
        metrics
    )
    assert metrics["fuzz/empty"] == metrics["fuzz/repeated_token"] == 0


def test_that_a_reward_made_to_be_hacked_is_found_before_it_is(tiny_model):
    metrics = metrics_of(tiny_model, RewardSpec("hack", "contains_plus_length"))
    assert metrics["fuzz/very_long"] > 100 * metrics["fuzz/real_median"]
    assert findings_of(metrics) == ["reward_fuzz"]


def test_that_a_reward_that_is_always_the_same_is_not_called_paid_nonsense(tiny_model):
    metrics = metrics_of(tiny_model, RewardSpec("always", "regex", 1.0, ".*"))
    assert metrics["fuzz/empty"] == metrics["fuzz/real_median"] == 1
    assert findings_of(metrics) == []


def test_that_functions_of_the_user_are_not_called_with_nonsense(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model))
    finished = learner.do_step(never)
    config = tiny_config(tiny_model, rewards=(RewardSpec("mine", "python", 1.0, "/rewards.py"),))
    assert not any(name.startswith("fuzz/") for name in first_step_metrics(config, learner.scorer, finished.rollout))


def test_that_a_reward_that_fails_on_nonsense_ends_no_run(tiny_model, monkeypatch):
    learner = tiny_learner(tiny_config(tiny_model))
    finished = learner.do_step(never)

    def fails(*_):
        raise TrainingError("The reward cannot read this.")

    monkeypatch.setattr(learner.scorer, "score", fails)
    metrics = first_step_metrics(learner.config, learner.scorer, finished.rollout)
    assert not any(name.startswith("fuzz/") for name in metrics)


def test_that_only_the_first_step_of_a_run_is_tried(tiny_model, tmp_path):
    sink = Sink()
    Trainer(tiny_config(tiny_model, steps=2), 1, sink, queue.SimpleQueue(), tmp_path).run()
    first, second = sink.steps
    assert "fuzz/real_median" in first
    assert "fuzz/real_median" not in second
