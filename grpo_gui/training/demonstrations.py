"""Demonstrations for pretraining: a problem with its answer, or with a plausible wrong one.

The wrong ones leave the base model something to learn: it answers right when greedy, but only
about every second time when sampled.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

from grpo_gui.tasks import Problem, Task

Corruption = Callable[[Problem, random.Random], str]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A prompt and the text the model shall answer with."""

    prompt: str
    text: str


def demonstrate(task: Task, rng: random.Random, noise: float) -> Demonstration:
    """Draw a problem of a built-in task; with probability `noise` the text is a wrong answer."""
    problem = task.sample(rng)
    text = corrupted(problem, rng) if rng.random() < noise else str(problem.answer)
    return Demonstration(problem.prompt, text)


def corrupted(problem: Problem, rng: random.Random) -> str:
    """Return a wrong answer of the kind people and small models give; never the right one."""
    corruptions = list(CORRUPTIONS[problem.task])
    rng.shuffle(corruptions)
    for corruption in corruptions:
        text = corruption(problem, rng)
        if text != problem.answer:
            return text
    return drop(problem, rng)  # always shorter, so always wrong


def other_operand(problem: Problem, rng: random.Random) -> str:  # noqa: ARG001 - one signature for all
    """The number that is not bigger."""
    left, right = problem.prompt.removeprefix("Which is bigger? ").removesuffix("?").split(" or ")
    return right if problem.answer == left else left


def off_by_a_power(problem: Problem, rng: random.Random) -> str:
    """The sum and 1, 10 or 100 more or less (more, where less would be negative)."""
    right, distance = int(str(problem.answer)), rng.choice((1, 10, 100))
    return str(abs(right - distance) if rng.random() < 0.5 and right >= distance else right + distance)


def forgotten_carry(problem: Problem, rng: random.Random) -> str:  # noqa: ARG001 - one signature for all
    """The sum of each column modulo 10."""
    first, second = problem.prompt.removeprefix("What is ").removesuffix("?").split(" + ")
    width = max(len(first), len(second))
    columns = zip(first.zfill(width), second.zfill(width), strict=True)
    return str(int("".join(str((int(a) + int(b)) % 10) for a, b in columns)))


def swap(problem: Problem, rng: random.Random) -> str:
    """The answer with two neighbours exchanged."""
    text = str(problem.answer)
    if len(text) < 2:
        return text
    place = rng.randrange(len(text) - 1)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def drop(problem: Problem, rng: random.Random) -> str:
    """The answer with one character missing."""
    text = str(problem.answer)
    place = rng.randrange(len(text))
    return text[:place] + text[place + 1 :]


def double(problem: Problem, rng: random.Random) -> str:
    """The answer with one character twice."""
    text = str(problem.answer)
    place = rng.randrange(len(text))
    return text[: place + 1] + text[place:]


def echo(problem: Problem, rng: random.Random) -> str:  # noqa: ARG001 - one signature for all
    """What the prompt asks to change, unchanged."""
    return problem.prompt.rpartition(" ")[2]


# With the other operand as its only mistake, compare would stay a near tie: right by .6 against .4, and greedy
# accuracy stops at .86.
CORRUPTIONS: dict[str, tuple[Corruption, ...]] = {
    "compare": (other_operand, drop, double),
    "add": (off_by_a_power, forgotten_carry),
    "sort": (swap, drop, double, echo),
    "reverse": (swap, drop, double, echo),
}
