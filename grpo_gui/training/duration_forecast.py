"""How long a run will take, from the pace of an earlier one with the same settings. Free of torch."""

import numpy as np

from grpo_gui.store.records import Float64Array
from grpo_gui.training.config import TrainConfig

PAUSE = 10.0  # a step that took so many times the median was interrupted, by a pause or a sleeping computer
FEWEST_STEPS = 5  # that tell a pace
# What decides how long a step takes; learning rate, seed, the loss and the like do not.
_DECIDING = (
    *("task", "task_mix", "prompt_file", "min_size", "max_size", "rewards", "model", "lora_rank", "chat_template"),
    *("system_prompt", "gradient_checkpointing", "prompts_per_step", "num_generations", "num_iterations"),
    *("micro_batch_prompts", "max_completion_length", "eval_steps", "eval_prompts", "device", "threads", "bf16"),
)


def is_as_fast(one: TrainConfig, other: TrainConfig) -> bool:
    """True when a step of both takes about the same time on the same computer."""
    if (one.beta > 0) != (other.beta > 0):  # only then the reference policy runs too
        return False
    return all(getattr(one, name) == getattr(other, name) for name in _DECIDING)


def seconds_per_step(times_s: Float64Array) -> float | None:
    """The pace of a run from the moments at which its steps ended, evaluations included; None when they are too few.

    Steps in which the run was paused are left out.
    """
    took = np.diff(times_s)
    took = took[np.isfinite(took) & (took > 0)]
    if len(took) < FEWEST_STEPS:
        return None
    return float(np.mean(took[took <= PAUSE * np.median(took)]))


def about(seconds: float) -> str:
    """Return a time span as roughly as it is known: `About 25 s`, `About 4 min`, `About 2.5 h`."""
    if seconds < 10:
        return f"About {max(1, round(seconds))} s"
    if seconds < 90:
        return f"About {5 * round(seconds / 5)} s"
    if seconds < 90 * 60:
        return f"About {round(seconds / 60)} min"
    return f"About {seconds / 3600:.1f} h"
