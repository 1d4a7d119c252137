import dataclasses
import json
from dataclasses import replace

import pytest

from grpo_gui.handover.options import current_names, grpo_options, train_rows
from grpo_gui.handover.placement import Placement
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.presets import PRESETS
from grpo_gui.training.schedule import learning_rate_at

CONFIG = TrainConfig(device="cpu")


def test_that_steps_of_ours_become_optimizer_steps_of_trl():
    options = grpo_options(replace(CONFIG, steps=100, num_iterations=3, eval_steps=10, save_steps=20), Placement())
    assert (options["max_steps"], options["eval_steps"], options["save_steps"]) == (300, 30, 60)


@pytest.mark.parametrize(
    ("processes", "micro_batch_prompts", "at_once", "accumulated"),
    [(1, 0, 64, 1), (1, 2, 16, 4), (2, 0, 32, 1), (4, 1, 8, 2), (16, 0, 4, 1), (1, 3, 16, 4)],
)
def test_that_every_completion_of_a_step_is_used_once(processes, micro_batch_prompts, at_once, accumulated):
    config = replace(CONFIG, micro_batch_prompts=micro_batch_prompts)
    options = grpo_options(config, Placement(processes))
    assert (options["per_device_train_batch_size"], options["gradient_accumulation_steps"]) == (at_once, accumulated)
    assert at_once * accumulated * processes == 64


def test_that_a_run_without_evaluation_or_snapshots_asks_for_none():
    options = grpo_options(replace(CONFIG, eval_steps=0, save_steps=0, save_total_limit=0), Placement())
    assert (options["eval_strategy"], options["save_strategy"]) == ("no", "no")
    assert options["save_total_limit"] is None
    assert "save_steps" not in options


def test_that_only_a_processor_that_was_asked_for_is_named():
    assert grpo_options(CONFIG, Placement())["use_cpu"] is True
    assert "use_cpu" not in grpo_options(replace(CONFIG, device="auto"), Placement())


def test_that_there_is_a_row_for_each_group():
    assert train_rows(replace(CONFIG, steps=7, prompts_per_step=3)) == 21
    assert train_rows(replace(CONFIG, steps=100_000)) == 50_000


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_that_options_survive_being_written_as_json(preset):
    options = grpo_options(preset.config, Placement(2))
    assert json.loads(json.dumps(options, allow_nan=False)) == options


def test_that_an_option_that_was_renamed_has_the_name_that_is_known():
    options = {"gradient_checkpointing": True, "beta": 0.1}
    assert current_names(options, {"beta", "gradient_checkpointing"}) == options
    new = {"beta", "gradient_checkpointing", "activation_checkpointing"}
    assert current_names(options, new) == {"activation_checkpointing": True, "beta": 0.1}


@pytest.mark.trl
class TestWithTrl:
    """Compares with the real GRPOConfig."""

    @pytest.fixture(autouse=True)
    def _trl(self, monkeypatch):
        pytest.importorskip("trl")
        monkeypatch.delenv("WORLD_SIZE", raising=False)

    @pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
    def test_that_trl_knows_every_option_of_every_preset_and_takes_its_value(self, preset, tmp_path):
        from trl import GRPOConfig

        known = {field.name for field in dataclasses.fields(GRPOConfig)}
        config = replace(preset.config, device="cpu", save_steps=10, save_only_model=True)
        options = current_names(grpo_options(config, Placement()), known)
        assert not options.keys() - known
        made = GRPOConfig(output_dir=str(tmp_path), **options)
        for name, value in options.items():
            taken = getattr(made, name)
            assert getattr(taken, "value", taken) == ([] if name == "report_to" else value), name
        assert made.generation_batch_size == preset.config.prompts_per_step * preset.config.num_generations
        assert made.steps_per_generation == made.gradient_accumulation_steps

    @pytest.mark.parametrize(("steps", "warmup", "ratio"), [(40, 5, 0.1), (10, 0, 1.0), (7, 7, 0.0)])
    def test_that_trl_moves_the_learning_rate_as_we_do(self, steps, warmup, ratio, tmp_path):
        import torch
        from transformers.optimization import get_scheduler

        config = replace(CONFIG, steps=steps, num_iterations=1, warmup_steps=warmup, min_lr_ratio=ratio)
        options = grpo_options(config, Placement())
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        schedule = get_scheduler(
            options["lr_scheduler_type"],
            optimizer,
            options["warmup_steps"],
            options["max_steps"],
            options["lr_scheduler_kwargs"],
        )
        theirs = []
        for _ in range(steps):
            theirs.append(schedule.get_last_lr()[0])
            optimizer.step()
            schedule.step()
        ours = [
            learning_rate_at(step, peak=1.0, steps=steps, warmup_steps=warmup, min_lr_ratio=ratio)
            for step in range(1, steps + 1)
        ]
        # TRL's first step has the rate before our first one.
        assert all(abs(a - b) <= 1.001 / max(warmup, 1) for a, b in zip(theirs[:warmup], ours[:warmup], strict=True))
        assert theirs[warmup:] == pytest.approx(ours[warmup:], abs=1.5 / steps)
