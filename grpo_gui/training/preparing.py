"""What a trainer needs before its first step: the task and the model, with sentences where they do not fit."""

from collections.abc import Callable

import torch

from grpo_gui.errors import TrainingError
from grpo_gui.language.hf_loading import open_policy
from grpo_gui.tasks.making import make_task
from grpo_gui.tasks.problem import Task
from grpo_gui.tasks.rewards import needs_answer
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import is_out_of_memory
from grpo_gui.training.learner import Learner
from grpo_gui.training.models import model_options


def task_of(config: TrainConfig, say: Callable[[str], None]) -> Task:
    """Return the task of a run; `say` takes sentences about a long read."""
    return make_task(
        config.task,
        mix=config.task_mix,
        prompt_file=config.prompt_file,
        min_size=config.min_size,
        max_size=config.max_size,
        needs_answer=needs_answer(spec.kind for spec in config.rewards),
        progress=lambda share: say(f"Reading {config.prompt_file}: {share:.0%}."),
    )


def load_learner(config: TrainConfig, device: torch.device, task: Task) -> Learner:
    """Load the model of a run and what trains it.

    Raises:
        TrainingError: the memory of the device is too small.
    """
    try:
        policy = open_policy(config.model, device, model_options(config))
        return Learner(config, policy, task)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise TrainingError(
            f"The model and its frozen copy do not fit into the memory of {device}; choose a smaller model, "
            "another device, or free memory."
        ) from error
