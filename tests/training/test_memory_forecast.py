import json
from dataclasses import replace
from pathlib import Path

import pytest

from grpo_gui.training.config import TrainConfig
from grpo_gui.training.memory_forecast import forecast, forecast_sentence

SHAPE = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "tie_word_embeddings": True,
}


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    (tmp_path / "config.json").write_text(json.dumps(SHAPE))
    return TrainConfig(model=str(tmp_path), max_completion_length=128)


def test_that_the_weights_of_smollm2_135m_are_counted_right(config):
    needed = forecast(config)
    assert needed is not None
    assert needed.parts["model"] == pytest.approx(134.5e6 * 4, rel=0.01)
    assert needed.parts["reference"] == needed.parts["model"]
    assert needed.parts["gradients and optimizer"] == 3 * needed.parts["model"]
    assert needed.parts["logits"] == 4 * 64 * 128 * 49152 * 4


def test_that_an_adapter_needs_no_reference_and_checkpointing_few_activations(config):
    whole, lora = forecast(config), forecast(replace(config, lora_rank=8))
    assert whole is not None
    assert lora is not None
    assert lora.parts["reference"] == 0
    assert lora.parts["gradients and optimizer"] < 0.1 * whole.parts["gradients and optimizer"]
    checkpointed = forecast(replace(config, gradient_checkpointing=True))
    assert checkpointed is not None
    assert checkpointed.parts["activations"] < 0.15 * whole.parts["activations"]


def test_that_what_does_not_fit_is_told_with_what_to_change(config):
    assert "will need about" in (forecast_sentence(config, 10**12) or "")
    short = forecast_sentence(config, 10**9) or ""
    assert "but only 1.0 GB are free" in short
    assert "turn on gradient_checkpointing" in short
    few = replace(config, prompts_per_step=1, num_generations=2, max_completion_length=4)
    assert "train a LoRA adapter" in (forecast_sentence(few, 10**9) or "")


def test_that_nothing_is_said_where_nothing_is_known(tmp_path):
    assert forecast(TrainConfig()) is None
    (tmp_path / "config.json").write_text("{}")
    assert forecast_sentence(TrainConfig(model=str(tmp_path)), 1) is None
