from dataclasses import replace

import pytest
import torch

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.training import rollout as rollout_module
from grpo_gui.training.checks import PROBED, WeightProbe
from tests.training.fakes import tiny_config, tiny_learner


def never():
    return None


def checks_of(learner):
    metrics = learner.do_step(never).metrics
    return {name: value for name, value in metrics.items() if name.startswith("check/")}


def test_that_a_right_step_passes_its_checks(tiny_model):
    checks = checks_of(tiny_learner(tiny_config(tiny_model)))
    assert checks["check/first_ratio"] < 1e-5
    assert checks["check/mask_tokens"] == 0
    assert checks["check/end_in_mask"] == 1
    assert 0 < checks["check/weights_change"] < 0.1


def test_that_truncated_completions_left_out_by_the_config_are_no_error(tiny_model):
    checks = checks_of(tiny_learner(tiny_config(tiny_model, mask_truncated_completions=True)))
    assert checks["check/mask_tokens"] == 0
    assert checks["check/end_in_mask"] == 1


def wrong_mask_found(tiny_model, monkeypatch, mask):
    monkeypatch.setattr(rollout_module, "_mask", mask)
    learner = tiny_learner(tiny_config(tiny_model))
    diagnosis = Diagnosis(RunFacts())
    for step in (1, 2):
        diagnosis.feed_step(step, learner.do_step(never).metrics)
    return diagnosis.open_findings()


def test_that_a_mask_with_padding_in_it_is_found(tiny_model, monkeypatch):
    def all_of_it(drawn, config):
        return torch.ones_like(drawn.ids, dtype=torch.bool)

    (finding,) = wrong_mask_found(tiny_model, monkeypatch, all_of_it)
    assert (finding.detector, finding.onset, finding.pauses) == ("wrong_mask", 1, True)
    assert "behind the end" in finding.detail


def test_that_a_mask_without_the_end_token_is_found(tiny_model, monkeypatch):
    def without_end(drawn, config):
        return torch.arange(drawn.ids.shape[1]) < (drawn.lengths - 1).clamp_min(1).unsqueeze(1)

    (finding,) = wrong_mask_found(tiny_model, monkeypatch, without_end)
    assert finding.detector == "wrong_mask"
    assert "left out" in finding.detail


def test_that_a_rollout_scored_at_another_temperature_is_found(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model, num_iterations=1))
    logps_of = learner.policy.logps

    def at_another_temperature(prompts, completions, lengths, *, temperature, **options):
        return logps_of(prompts, completions, lengths, temperature=2 * temperature, **options)

    learner.policy.logps = at_another_temperature
    diagnosis = Diagnosis(RunFacts())
    diagnosis.feed_step(1, learner.do_step(never).metrics)
    assert [finding.detector for finding in diagnosis.open_findings()] == ["fresh_ratio"]


def test_that_the_probe_measures_the_relative_change():
    parameters = [torch.nn.Parameter(torch.full((10,), 2.0)), torch.nn.Parameter(torch.zeros(PROBED + 5))]
    probe = WeightProbe(parameters)
    assert probe.relative_change().item() == 0
    with torch.no_grad():
        parameters[0] += 0.2
        parameters[1][PROBED:] += 100.0  # not watched
    assert probe.relative_change().item() == pytest.approx(0.1, rel=1e-5)


def test_that_checks_survive_a_step_that_is_broken_off(tiny_model):
    config = tiny_config(tiny_model)
    whole = tiny_learner(config).do_step(never).metrics
    learner = tiny_learner(replace(config))
    calls = []

    def once():
        calls.append(1)
        if len(calls) == 4:  # in the second inner update
            raise RuntimeError

    with pytest.raises(RuntimeError):
        learner.do_step(once)
    assert learner.progress is not None
    assert learner.progress.iteration == 1
    again = learner.do_step(never).metrics
    assert {name: again[name] for name in whole if name.startswith("check/")} == {
        name: value for name, value in whole.items() if name.startswith("check/")
    }
