"""How much memory a run will need, from the model's config.json and the run's config. Free of torch."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from grpo_gui.training.config import TrainConfig

FLOAT_BYTES = 4  # weights, gradients and moments are float32
ACTIVATIONS = 34  # numbers a token, layer and unit of width that the backward pass needs (arXiv 2205.05198, eq. 1)
CHECKPOINTED = 2  # of these with gradient checkpointing
LOGITS_COPIES = 4  # logits, their log-softmax, and the gradients of both
LORA_LAYERS = 7  # linear layers of a block that get an adapter
PROMPT_TOKENS = 128  # where the prompts' length is not known
ROOM = 0.9  # of the free memory may be planned with


@dataclass(frozen=True, slots=True)
class Forecast:
    """Bytes of each part of a run."""

    parts: dict[str, int]

    @property
    def total(self) -> int:
        """Bytes in all, at the fullest moment."""
        return sum(self.parts.values())


def forecast(config: TrainConfig, prompt_tokens: int = PROMPT_TOKENS) -> Forecast | None:
    """Return what the run will need; None for a model without a readable config.json (GGUF, built-in, adapter)."""
    shape = _shape(Path(config.model))
    if shape is None:
        return None
    layers, hidden, inner, vocabulary = (shape[name] for name in ("layers", "hidden", "inner", "vocabulary"))
    heads, key_heads = shape["heads"], shape["key_heads"]
    key_width = shape["head_dim"] * key_heads
    block = hidden * (2 * shape["head_dim"] * heads + 2 * key_width) + 3 * hidden * inner
    weights = layers * block + vocabulary * hidden * (1 if shape["tied"] else 2)
    trained = weights
    if config.lora_rank:
        trained = layers * config.lora_rank * (LORA_LAYERS * hidden + 3 * inner + 4 * hidden)
    prompts = config.micro_batch_prompts or config.prompts_per_step
    rows, length = prompts * config.num_generations, config.max_completion_length
    tokens = rows * (prompt_tokens + length)
    copies = CHECKPOINTED if config.gradient_checkpointing else ACTIVATIONS
    parts = {
        "model": weights,
        "reference": 0 if config.lora_rank else weights,
        "gradients and optimizer": 3 * trained,
        "activations": tokens * hidden * (layers * copies + (ACTIVATIONS if config.gradient_checkpointing else 0)),
        "logits": LOGITS_COPIES * rows * length * vocabulary,
        "keys and values": 2 * layers * key_width * tokens,
    }
    return Forecast({name: number * FLOAT_BYTES for name, number in parts.items()})


def forecast_sentence(config: TrainConfig, free_bytes: int, prompt_tokens: int = PROMPT_TOKENS) -> str | None:
    """Return how much the run needs, and when it will not fit what to change; None when nothing is known."""
    needed = forecast(config, prompt_tokens)
    if needed is None:
        return None
    has = f"{free_bytes / 1e9:.1f} GB are free"
    if needed.total <= free_bytes * ROOM:
        return f"The run will need about {needed.total / 1e9:.1f} GB of memory; {has}."
    largest = max(needed.parts, key=lambda name: needed.parts[name])
    return (
        f"The run will need about {needed.total / 1e9:.1f} GB of memory, but only {has}. The largest part is "
        f"{largest} ({needed.parts[largest] / 1e9:.1f} GB): {_advice(config, largest)}."
    )


def memory_text(config: TrainConfig) -> str:
    """Return the sentence for the form, or "": compared with this machine's memory unless a graphics card is used."""
    if config.device.startswith(("cuda", "mps")):
        needed = forecast(config)
        return "" if needed is None else f"The run will need about {needed.total / 1e9:.1f} GB of the card's memory."
    return forecast_sentence(config, psutil.virtual_memory().available) or ""


def _advice(config: TrainConfig, part: str) -> str:
    prompts = config.micro_batch_prompts or config.prompts_per_step
    smaller = (
        f"lower micro_batch_prompts (now {prompts}), max_completion_length (now {config.max_completion_length}) or "
        f"num_generations (now {config.num_generations})"
    )
    match part:
        case "gradients and optimizer" | "reference" if not config.lora_rank:
            return "train a LoRA adapter (lora_rank 8 or 16) instead of all weights, or take a smaller model"
        case "gradients and optimizer":
            return f"lower lora_rank (now {config.lora_rank})"
        case "activations" if not config.gradient_checkpointing:
            return f"turn on gradient_checkpointing, or {smaller}"
        case "model" | "reference":
            return "take a smaller model"
        case _:
            return smaller


def _shape(folder: Path) -> dict[str, int] | None:
    try:
        values: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        values = values.get("text_config") or values
        hidden = int(values["hidden_size"])
        heads = int(values["num_attention_heads"])
        return {
            "layers": int(values["num_hidden_layers"]),
            "hidden": hidden,
            "inner": int(values.get("intermediate_size") or 4 * hidden),
            "vocabulary": int(values["vocab_size"]),
            "heads": heads,
            "key_heads": int(values.get("num_key_value_heads") or heads),
            "head_dim": int(values.get("head_dim") or hidden // heads),
            "tied": int(bool(values.get("tie_word_embeddings", False))),
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
