"""Make a task from the plain values of a run's config."""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.generated import KINDS, GeneratedTask
from grpo_gui.tasks.gym_task import REASONING_GYM, ReasoningGymTask
from grpo_gui.tasks.mix import MixTask
from grpo_gui.tasks.problem import Task
from grpo_gui.tasks.prompt_file import PromptFileTask

TASK_NAMES = (*KINDS, "mix", "file")


def make_task(
    task: str,
    *,
    mix: Sequence[tuple[str, float]] = (),
    prompt_file: str = "",
    min_size: int = 0,
    max_size: int = 0,
    needs_answer: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Task:
    """Return the task named `task`.

    `mix` lists (task, weight) when the task is "mix" (empty: the four built-in tasks equally).
    Sizes belong to one built-in task; 0 stands for its own range. `needs_answer` makes a prompt file
    without answers an error (`grpo_gui.tasks.rewards.needs_answer` tells). `prompt_file` is a data file, or
    `reasoning_gym:NAME`. `progress` is told the share of a long file that was read.

    Raises:
        BadInputError: for an unknown task, bad sizes, a bad mix, or a prompt file that cannot be used.
    """
    if task in KINDS:
        return GeneratedTask(KINDS[task], min_size, max_size)
    if min_size or max_size:
        raise BadInputError(f"Sizes belong to one of the tasks {_listed(KINDS)}; leave them at 0 for {task!r}.")
    if task == "mix":
        return _make_mix(mix or tuple((name, 1.0) for name in KINDS))
    if task == "file":
        if not prompt_file:
            raise BadInputError("The task 'file' needs a data file (JSONL, CSV, JSON or Parquet); choose one.")
        if prompt_file.startswith(REASONING_GYM):
            return ReasoningGymTask(prompt_file.removeprefix(REASONING_GYM))
        return PromptFileTask(Path(prompt_file), needs_answer=needs_answer, progress=progress)
    raise BadInputError(f"There is no task {task!r}; choose one of {_listed(TASK_NAMES)}.")


def _make_mix(mix: Sequence[tuple[str, float]]) -> Task:
    for name, weight in mix:
        if name not in KINDS:
            raise BadInputError(f"A mix can hold {_listed(KINDS)}, not {name!r}.")
        if not (math.isfinite(weight) and weight > 0):
            raise BadInputError(f"The weight of {name} in the mix must be above 0; got {weight}.")
    names = [name for name, _ in mix]
    if len(set(names)) < len(names):
        raise BadInputError("A task stands twice in the mix; name each once and give it the summed weight.")
    return MixTask([GeneratedTask(KINDS[name]) for name in names], [weight for _, weight in mix])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
