"""The task that a run's config asks for. Free of torch."""

from collections.abc import Callable

from grpo_gui.tasks.making import make_task
from grpo_gui.tasks.problem import Task
from grpo_gui.tasks.rewards import needs_answer
from grpo_gui.training.config import TrainConfig


def task_of(config: TrainConfig, say: Callable[[str], None] = lambda _: None) -> Task:
    """Return the task of a run; `say` takes sentences about a long read.

    Raises:
        BadInputError: a data file cannot be used.
    """
    return make_task(
        config.task,
        mix=config.task_mix,
        prompt_file=config.prompt_file,
        min_size=config.min_size,
        max_size=config.max_size,
        needs_answer=needs_answer(spec.kind for spec in config.rewards),
        progress=lambda share: say(f"Reading {config.prompt_file}: {share:.0%}."),
    )
