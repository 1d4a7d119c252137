"""What a trainer needs before its first step: the task and the model, with sentences where they do not fit."""

import torch

from grpo_gui.errors import TrainingError
from grpo_gui.language.hf_loading import open_policy
from grpo_gui.tasks.problem import Task
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import is_out_of_memory
from grpo_gui.training.learner import Learner
from grpo_gui.training.models import model_options


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
