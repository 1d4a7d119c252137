"""A mix of tasks: each problem comes from one of the parts, drawn by weight."""

import random
from collections.abc import Sequence

from grpo_gui.tasks.problem import Problem, Task


class MixTask:
    """Draws from several tasks; `weights` are positive and need not add up to 1."""

    name = "mix"

    def __init__(self, tasks: Sequence[Task], weights: Sequence[float]) -> None:
        self._tasks = tuple(tasks)
        self._weights = tuple(weights)

    def sample(self, rng: random.Random) -> Problem:
        """Draw one training problem from a part chosen by weight."""
        (task,) = rng.choices(self._tasks, self._weights)
        return task.sample(rng)

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Return up to `count` held-out problems, the same number of each part whatever its weight.

        Equal shares measure every part equally well; the first parts get the remainder.
        """
        share, remainder = divmod(count, len(self._tasks))
        problems: list[Problem] = []
        for position, task in enumerate(self._tasks):
            problems += task.held_out(share + (position < remainder), seed)
        return problems
