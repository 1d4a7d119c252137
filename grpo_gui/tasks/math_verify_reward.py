"""The reward by math-verify, which runs in a child process: it raises outside a main thread, and it can hang."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_gui.tasks.reward_file import FunctionReference, read_source, sha256_of
from grpo_gui.tasks.reward_process import ForeignReward

if TYPE_CHECKING:
    from grpo_gui.tasks.rewards import RewardFunction


def math_verify_reward(completions: Sequence[str], answer: Sequence[str | None]) -> list[float | None]:
    """Return 1 where the completion equals the answer, 0 where not, None where the answer cannot be read.

    Needs the extra `math`; called in the child process only.
    """
    from math_verify import parse, verify

    values: list[float | None] = []
    for text, right in zip(completions, answer, strict=True):
        gold = [] if right is None else parse(right) or parse(f"${right}$")
        values.append(float(verify(gold, parse(text) or parse(f"${text}$"))) if gold else None)
    return values


def make_math_verify_reward(argument: str) -> "RewardFunction":  # noqa: ARG001 - no argument
    """Return the reward; its process starts with the first call."""
    path = Path(__file__)
    return ForeignReward(FunctionReference(path, "math_verify_reward"), sha256=sha256_of(read_source(path)))


def check_math_verify(argument: str) -> str | None:
    """Return a sentence when the reward cannot be used, else None."""
    if argument:
        return f"This reward takes no argument; got {argument!r}."
    if find_spec("math_verify") is None:
        return 'The package math-verify is missing; install it with: pip install "grpo-gui[math]".'
    return None
