"""Tasks of the package reasoning-gym, as `reasoning_gym:NAME`, and the reward by its own scorer."""

import importlib
import random
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grpo_gui.errors import BadInputError, MissingExtraError
from grpo_gui.tasks.problem import Problem, is_held_out
from grpo_gui.tasks.prompt_file import plain
from grpo_gui.tasks.reward_file import FunctionReference, read_source, sha256_of
from grpo_gui.tasks.reward_process import ForeignReward

if TYPE_CHECKING:
    from grpo_gui.tasks.rewards import RewardFunction

REASONING_GYM = "reasoning_gym:"
ENTRIES = 1_000_000  # different problems that are drawn from
MISSING = 'The package reasoning-gym is missing; install it with: pip install "grpo-gui[reasoning]".'
_TRIES = 50  # before a task that repeats itself is taken as it comes


class ReasoningGymTask:
    """Draws problems of one reasoning-gym task; about one in ten is held out, by the CRC-32 of its prompt.

    Raises:
        MissingExtraError: the package is missing.
        BadInputError: there is no such task.
    """

    def __init__(self, name: str) -> None:
        if find_spec("reasoning_gym") is None:
            raise MissingExtraError(MISSING)
        package: Any = importlib.import_module("reasoning_gym")
        known = importlib.import_module("reasoning_gym.factory").DATASETS
        if name not in known:
            raise BadInputError(f"reasoning-gym has no task {name!r}; its tasks are {', '.join(sorted(known))}.")
        self.name = f"{REASONING_GYM}{name}"
        self._dataset = package.create_dataset(name, seed=0, size=ENTRIES)

    def sample(self, rng: random.Random) -> Problem:
        """Draw one training problem."""
        for _ in range(_TRIES):
            problem = self._at(rng.randrange(ENTRIES))
            if not is_held_out(problem.prompt):
                return problem
        raise BadInputError(f"The task {self.name} has hardly any prompts beside the held-out ones; choose another.")

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Return up to `count` held-out problems with different prompts, the same ones for the same seed."""
        rng = random.Random(f"held out/{self.name}/{seed}")
        found: dict[str, Problem] = {}
        for _ in range(_TRIES * count):
            if len(found) == count:
                break
            problem = self._at(rng.randrange(ENTRIES))
            if is_held_out(problem.prompt):
                found.setdefault(problem.prompt, problem)
        return list(found.values())

    def _at(self, index: int) -> Problem:
        entry = self._dataset[index]
        answer = entry["answer"]
        columns = {"metadata": plain(entry["metadata"]), "dataset": self.name.removeprefix(REASONING_GYM)}
        return Problem(self.name, entry["question"], None if answer is None else str(answer), columns)


def reasoning_gym_reward(
    completions: Sequence[str], answer: Sequence[str | None], metadata: Sequence[Any], dataset: Sequence[str]
) -> list[float]:
    """Return what reasoning-gym's own scorers give; called in the child process only."""
    package: Any = importlib.import_module("reasoning_gym")
    entries = zip(completions, answer, metadata, dataset, strict=True)
    return [
        float(package.get_score_answer_fn(name)(text, {"question": "", "answer": right, "metadata": facts}))
        for text, right, facts, name in entries
    ]


def make_reasoning_gym_reward(argument: str) -> "RewardFunction":  # noqa: ARG001 - no argument
    """Return the reward; its process starts with the first call."""
    path = Path(__file__)
    return ForeignReward(FunctionReference(path, "reasoning_gym_reward"), sha256=sha256_of(read_source(path)))


def check_reasoning_gym(argument: str) -> str | None:
    """Return a sentence when the reward cannot be used, else None."""
    if argument:
        return f"This reward takes no argument; got {argument!r}."
    return MISSING if find_spec("reasoning_gym") is None else None
