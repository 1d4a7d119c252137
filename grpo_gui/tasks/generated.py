"""The built-in tasks, whose problems are drawn at random: compare, sort, add, reverse."""

import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.problem import Problem, is_held_out

SAME_INTEGER_SHARE = 0.6  # of the comparisons: where the decimals decide (9.11 or 9.9)
DRAWS_PER_HELD_OUT = 200  # one draw in ten is held out; small tasks run dry and then return fewer


@dataclass(frozen=True, slots=True)
class TaskKind:
    """A built-in task: how it draws a problem, and the sizes it takes.

    `draw(rng, min_size, max_size)` returns (prompt, answer). `sizes` is the range used when the
    config names none, `limits` the widest range allowed; both count what `size_label` says.
    """

    name: str
    label: str
    size_label: str
    sizes: tuple[int, int]
    limits: tuple[int, int]
    draw: Callable[[random.Random, int, int], tuple[str, str]]


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(string.digits, k=count))


def _integer_part(rng: random.Random) -> int:
    return rng.randint(0, 9) if rng.random() < 0.5 else rng.randint(10, 99)


def draw_compare(rng: random.Random, min_size: int, max_size: int) -> tuple[str, str]:
    """Draw two different decimal numbers; the answer is the bigger one as it is written in the prompt."""
    while True:
        first = _integer_part(rng)
        second = first if rng.random() < SAME_INTEGER_SHARE else _integer_part(rng)
        left = f"{first}.{_digits(rng, rng.randint(min_size, max_size))}"
        right = f"{second}.{_digits(rng, rng.randint(min_size, max_size))}"
        if Decimal(left) != Decimal(right):
            return f"Which is bigger? {left} or {right}?", max(left, right, key=Decimal)


def draw_sort(rng: random.Random, min_size: int, max_size: int) -> tuple[str, str]:
    """Draw random digits; the answer holds the same digits in ascending order."""
    digits = _digits(rng, rng.randint(min_size, max_size))
    return f"Sort the digits: {digits}", "".join(sorted(digits))


def draw_add(rng: random.Random, min_size: int, max_size: int) -> tuple[str, str]:
    """Draw two whole numbers without leading zeros; the answer is their sum."""
    first, second = (_whole_number(rng, rng.randint(min_size, max_size)) for _ in range(2))
    return f"What is {first} + {second}?", str(first + second)


def _whole_number(rng: random.Random, digits: int) -> int:
    return rng.randint(0 if digits == 1 else 10 ** (digits - 1), 10**digits - 1)


def draw_reverse(rng: random.Random, min_size: int, max_size: int) -> tuple[str, str]:
    """Draw random small letters; the answer is the same letters backwards."""
    letters = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(min_size, max_size)))
    return f"Reverse: {letters}", letters[::-1]


KINDS: dict[str, TaskKind] = {
    kind.name: kind
    for kind in (
        TaskKind("compare", "Compare two numbers", "digits after the point", (1, 3), (1, 8), draw_compare),
        TaskKind("sort", "Sort digits", "digits", (3, 6), (2, 32), draw_sort),
        TaskKind("add", "Add two numbers", "digits of each number", (1, 3), (1, 16), draw_add),
        TaskKind("reverse", "Reverse letters", "letters", (3, 7), (2, 32), draw_reverse),
    )
}


class GeneratedTask:
    """A built-in task with a range of sizes; 0 stands for the task's own range.

    Raises:
        BadInputError: when the sizes are outside the task's limits or the smallest exceeds the largest.
    """

    def __init__(self, kind: TaskKind, min_size: int = 0, max_size: int = 0) -> None:
        self._kind = kind
        self.min_size, self.max_size = _checked_sizes(kind, min_size, max_size)

    @property
    def name(self) -> str:
        """The name of the task."""
        return self._kind.name

    def sample(self, rng: random.Random) -> Problem:
        """Draw one training problem; never a held-out one."""
        while True:
            problem = self._draw(rng)
            if not is_held_out(problem.prompt):
                return problem

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Return up to `count` held-out problems with different prompts; fewer when the task has no more."""
        rng = random.Random(f"held out/{self.name}/{seed}")
        found: dict[str, Problem] = {}
        for _ in range(count * DRAWS_PER_HELD_OUT):
            if len(found) == count:
                break
            problem = self._draw(rng)
            if is_held_out(problem.prompt):
                found.setdefault(problem.prompt, problem)
        return list(found.values())

    def _draw(self, rng: random.Random) -> Problem:
        prompt, answer = self._kind.draw(rng, self.min_size, self.max_size)
        return Problem(self.name, prompt, answer)


def _checked_sizes(kind: TaskKind, min_size: int, max_size: int) -> tuple[int, int]:
    if not min_size and not max_size:
        return kind.sizes
    smallest = min_size or min(kind.sizes[0], max_size)
    largest = max_size or max(kind.sizes[1], min_size)
    lowest, highest = kind.limits
    if not lowest <= smallest <= highest or not lowest <= largest <= highest:
        raise BadInputError(
            f"The sizes of the task {kind.name} ({kind.size_label}) must lie between {lowest} and {highest}; "
            f"got {smallest} to {largest}."
        )
    if smallest > largest:
        raise BadInputError(
            f"The smallest size of the task {kind.name} ({smallest}) is above the largest ({largest}); swap them."
        )
    return smallest, largest
