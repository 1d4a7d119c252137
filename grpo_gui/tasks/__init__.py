"""Built-in tasks, prompt files and reward functions."""

from grpo_gui.tasks.making import TASK_NAMES, make_task
from grpo_gui.tasks.problem import Problem, Task, held_out_shortage, is_held_out
from grpo_gui.tasks.rewards import REWARDS, RewardFunction, RewardKind, is_right

__all__ = [
    "REWARDS",
    "TASK_NAMES",
    "Problem",
    "RewardFunction",
    "RewardKind",
    "Task",
    "held_out_shortage",
    "is_held_out",
    "is_right",
    "make_task",
]
