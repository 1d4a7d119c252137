"""The policy that a run's config asks for."""

from typing import TYPE_CHECKING

from grpo_gui.training.config import TrainConfig

if TYPE_CHECKING:
    from grpo_gui.language.hf_loading import ModelOptions


def model_options(config: TrainConfig) -> "ModelOptions":
    """Return how the config uses its model; imports torch."""
    from grpo_gui.language.hf_loading import ModelOptions

    return ModelOptions(
        lora_rank=config.lora_rank,
        chat_template=config.chat_template,
        system_prompt=config.system_prompt,
        gradient_checkpointing=config.gradient_checkpointing,
        max_completion_length=config.max_completion_length,
        seed=config.seed,
    )
