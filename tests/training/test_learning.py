"""Runs of the presets with the real base model, a few seconds each: do they do what they promise?"""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grpo_gui.events import EvalCompleted, RunStatus
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.presets import preset_config
from tests.training.fakes import Rig

pytestmark = pytest.mark.learning


class Outcome:
    """The curves of a finished run, by step."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        rig = Rig(config, folder)
        assert rig.run() is RunStatus.FINISHED
        evaluations = [dict(event.metrics) for event in rig.sink.of(EvalCompleted)]
        self.accuracy = [metrics["eval/accuracy"] for metrics in evaluations]
        self.steps = rig.sink.steps


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("task", ["compare", "sort", "add", "reverse"])
def test_that_the_default_preset_teaches_each_task(tmp_path, task: str, seed: int):
    config = replace(preset_config("default"), task=task, seed=seed, device="cpu", eval_prompts=1000)
    outcome = Outcome(config, tmp_path)
    assert config.steps <= 150
    assert outcome.accuracy[0] < 0.75
    assert max(outcome.accuracy) > 0.95
    assert outcome.steps[-1]["frac_reward_zero_std"] > 0.5
    early = [step["clip_ratio/region_mean"] for step in outcome.steps[1:10]]
    assert sum(early) / len(early) > 0.003


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_that_the_default_preset_teaches_on_cuda(tmp_path):
    config = replace(preset_config("default"), device="cuda", eval_prompts=1000)
    assert max(Outcome(config, tmp_path).accuracy) > 0.95


def test_that_sorting_9_digits_is_learned_from_a_few_right_answers(tmp_path):
    outcome = Outcome(replace(preset_config("sort-9"), device="cpu", eval_prompts=300), tmp_path)
    assert outcome.accuracy[0] < 0.2
    assert outcome.accuracy[-1] > 0.75


def test_that_sorting_10_digits_needs_partial_credit(tmp_path):
    exact = Outcome(replace(preset_config("sort-10"), device="cpu", steps=30, eval_prompts=300), tmp_path / "exact")
    assert exact.accuracy[-1] < 0.05
    partial = Outcome(replace(preset_config("sort-10-partial"), device="cpu", eval_prompts=300), tmp_path / "partial")
    assert partial.accuracy[0] < 0.05
    assert partial.accuracy[-1] > 0.6


def test_that_a_learning_rate_that_is_too_high_breaks_the_policy(tmp_path):
    outcome = Outcome(replace(preset_config("lesson-lr-too-high"), device="cpu", eval_prompts=300), tmp_path)
    assert outcome.accuracy[-1] < 0.05
    assert max(step["kl"] for step in outcome.steps) > 20
    assert max(step["clip_ratio/region_mean"] for step in outcome.steps) > 0.08


def test_that_a_hackable_reward_rises_while_accuracy_falls(tmp_path):
    outcome = Outcome(replace(preset_config("lesson-hackable-reward"), device="cpu", eval_prompts=300), tmp_path)
    assert outcome.accuracy[-1] < 0.1
    assert outcome.steps[-1]["reward"] > 2 * outcome.steps[0]["reward"]


@pytest.mark.slow
def test_that_a_mix_is_learned_too(tmp_path):
    config = replace(preset_config("mixed"), device="cpu", eval_steps=50, eval_prompts=1000)
    assert Outcome(config, tmp_path).accuracy[-1] > 0.9
