"""A run's config as options of TRL's GRPOConfig. Free of torch and of TRL."""

from collections.abc import Collection
from typing import Any

from grpo_gui.handover.placement import Placement
from grpo_gui.training.config import TrainConfig

MAX_ROWS = 50_000
EVAL_COMPLETIONS = 64  # at once on a process

Options = dict[str, Any]

_RENAMED = {"gradient_checkpointing": "activation_checkpointing"}
_SAME_NAME = (
    *("num_generations", "num_iterations", "max_completion_length"),
    *("learning_rate", "max_grad_norm", "weight_decay", "gradient_checkpointing"),
    *("loss_type", "importance_sampling_level", "epsilon", "epsilon_high", "delta", "beta"),
    *("use_bias_correction_kl", "mask_truncated_completions", "scale_rewards", "multi_objective_aggregation"),
    *("temperature", "top_k", "top_p", "seed", "bf16", "save_only_model"),
)


def grpo_options(config: TrainConfig, place: Placement) -> Options:
    """The arguments of GRPOConfig, without `output_dir`; all of them can be written as JSON.

    A step of ours is `num_iterations` optimizer steps of TRL; what counts steps is multiplied.
    """
    return {
        **{name: getattr(config, name) for name in _SAME_NAME},
        **_batch(config, place),
        **_schedule(config),
        **_evaluation(config, place),
        "reward_weights": [spec.weight for spec in config.rewards],
        "save_strategy": "steps" if config.save_steps else "no",
        **({"save_steps": config.save_steps * config.num_iterations} if config.save_steps else {}),
        "save_total_limit": config.save_total_limit or None,
        "model_init_kwargs": {"dtype": "float32", "use_safetensors": True, "local_files_only": True},
        "adam_beta2": 0.99,
        "shuffle_dataset": False,  # the rows are drawn in their order already
        "logging_steps": 1,
        "report_to": "none",
        "disable_tqdm": True,
        **({"use_cpu": True} if config.device == "cpu" else {}),
    }


def current_names(options: Options, known: Collection[str]) -> Options:
    """The options under the names that the installed transformers knows: one of them was renamed within version 5."""
    return {_RENAMED[name] if _RENAMED.get(name) in known else name: value for name, value in options.items()}


def train_rows(config: TrainConfig) -> int:
    """Rows of training data, drawn before the start: a prompt for each group, but not more than MAX_ROWS."""
    return min(config.steps * config.prompts_per_step, MAX_ROWS)


def _batch(config: TrainConfig, place: Placement) -> Options:
    """Completions that a process puts through the model at once, and how often before an optimizer step."""
    of_process = config.prompts_per_step * config.num_generations // place.world_size
    wanted = (config.micro_batch_prompts or config.prompts_per_step) * config.num_generations
    at_once = next(size for size in range(min(of_process, wanted), 0, -1) if of_process % size == 0)
    return {"per_device_train_batch_size": at_once, "gradient_accumulation_steps": of_process // at_once}


def _schedule(config: TrainConfig) -> Options:
    """A linear rise, then a linear fall to `min_lr_ratio`, as in `training.schedule`."""
    total = config.steps * config.num_iterations
    rising = min(config.warmup_steps * config.num_iterations, total)
    return {
        "max_steps": total,
        "warmup_steps": rising,
        "lr_scheduler_type": "warmup_stable_decay",
        "lr_scheduler_kwargs": {
            "num_decay_steps": total - rising,
            "decay_type": "linear",
            "min_lr_ratio": config.min_lr_ratio,
        },
    }


def _evaluation(config: TrainConfig, place: Placement) -> Options:
    if not config.eval_steps:
        return {"eval_strategy": "no"}
    of_process = -(-config.eval_prompts // place.world_size)
    return {
        "eval_strategy": "steps",
        "eval_steps": config.eval_steps * config.num_iterations,
        "eval_on_start": True,
        "num_generations_eval": 1,
        "per_device_eval_batch_size": min(of_process, EVAL_COMPLETIONS),
    }
