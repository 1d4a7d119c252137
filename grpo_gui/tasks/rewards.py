"""The reward functions a run can choose from, each with its label, its tooltip and the check of its argument.

Every reward function has TRL's signature: (prompts, completions, *, answer, completion_ids, **columns)
-> one value a completion, None where it has no opinion.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import regex

from grpo_gui.errors import TrainingError
from grpo_gui.tasks.gym_task import check_reasoning_gym, make_reasoning_gym_reward
from grpo_gui.tasks.math_verify_reward import check_math_verify, make_math_verify_reward
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.reward_file import check_reference, parse_reference
from grpo_gui.tasks.reward_process import ForeignReward

PATTERN_TIMEOUT_S = 1.0
NEAR_MISS = 0.2  # what all positions right would earn an answer that is not exact
PER_CHARACTER = 0.2

# a sign behind a digit is a dash or a minus between numbers; commas count only as marks of thousands
_NUMBER = re.compile(r"(?:(?<!\d)[-+])?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)")


class RewardFunction(Protocol):
    """Scores completions; TRL calls its reward functions the same way."""

    def __call__(
        self,
        prompts: Sequence[str],
        completions: Sequence[str],
        *,
        answer: Sequence[str | None],
        completion_ids: Sequence[Sequence[int]],
        **columns: Sequence[Any],
    ) -> list[float | None]:
        """Return one reward a completion, None for no opinion; all sequences have the same length."""


@dataclass(frozen=True, slots=True)
class RewardKind:
    """A kind of reward a run can choose.

    `argument_label` names its one option ("" when it takes none). `check(argument)` returns a
    sentence when the argument cannot be used, else None; `make(argument)` trusts a checked argument.
    """

    kind: str
    label: str
    tooltip: str
    needs_answer: bool
    argument_label: str
    make: Callable[[str], RewardFunction]
    check: Callable[[str], str | None]


def is_right(problem: Problem, completion: str) -> bool | None:
    """Tell whether a completion is the answer, spaces around both aside; None when the problem has no answer.

    Where the data say that the answer is the last number of a text (GSM8K), so it is of the completion.
    """
    if problem.answer is None:
        return None
    if problem.answer_is_last_number:
        return numeric_score(completion, problem.answer) == 1.0
    return completion.strip() == problem.answer.strip()


def needs_answer(kinds: Iterable[str]) -> bool:
    """Tell whether one of these kinds of reward compares with the answer."""
    return any(REWARDS[kind].needs_answer for kind in kinds)


def _by_answer(score: Callable[[str, str], float | None]) -> Callable[[str], RewardFunction]:
    """Turn `score(completion, answer)` on stripped texts into a maker of reward functions without argument."""

    def reward(
        prompts: Sequence[str],  # noqa: ARG001 - part of TRL's signature
        completions: Sequence[str],
        *,
        answer: Sequence[str | None],
        completion_ids: Sequence[Sequence[int]],  # noqa: ARG001
        **columns: Sequence[Any],  # noqa: ARG001
    ) -> list[float | None]:
        pairs = zip(completions, answer, strict=True)
        return [None if right is None else score(text.strip(), right.strip()) for text, right in pairs]

    return lambda argument: reward  # noqa: ARG005 - no argument


def exact_score(completion: str, answer: str) -> float:
    """Return 1 when the texts are equal, else 0."""
    return float(completion == answer)


def numeric_score(completion: str, answer: str) -> float | None:
    """Return 1 when the last numbers of both texts are equal in value, else 0; None when the answer has no number."""
    expected = _last_number(answer)
    return None if expected is None else float(_last_number(completion) == expected)


def _last_number(text: str) -> Decimal | None:
    numbers = _NUMBER.findall(text)
    return Decimal(numbers[-1].replace(",", "")) if numbers else None


def partial_score(completion: str, answer: str) -> float:
    """Return 1 when equal, else 0.2 times the share of positions (of the longer text) with the right character."""
    if completion == answer:
        return 1.0
    right = sum(got == expected for got, expected in zip(completion, answer, strict=False))
    return NEAR_MISS * right / max(len(completion), len(answer))


def contains_plus_length_score(completion: str, answer: str) -> float:
    """Return 1 when the answer stands anywhere in the completion, plus 0.2 for every character: made to be hacked."""
    return float(answer in completion) + PER_CHARACTER * len(completion)


def make_pattern_reward(pattern: str) -> RewardFunction:
    """Return a reward of 1 where the pattern is found in the completion, else 0.

    Some patterns need exponential time on some texts and would hang the trainer. The search is
    therefore ended after a second.

    Raises:
        TrainingError: (when called) if the search takes longer than a second.
    """
    compiled = regex.compile(pattern)

    def found(completion: str) -> float:
        try:
            return float(compiled.search(completion, timeout=PATTERN_TIMEOUT_S) is not None)
        except TimeoutError:
            raise TrainingError(
                f"The pattern {pattern!r} takes more than {PATTERN_TIMEOUT_S:g} s on one completion; "
                "simplify it (repeats inside repeats are the usual cause)."
            ) from None

    def reward(
        prompts: Sequence[str],  # noqa: ARG001 - part of TRL's signature
        completions: Sequence[str],
        *,
        answer: Sequence[str | None],  # noqa: ARG001
        completion_ids: Sequence[Sequence[int]],  # noqa: ARG001
        **columns: Sequence[Any],  # noqa: ARG001
    ) -> list[float | None]:
        return [found(completion) for completion in completions]

    return reward


def make_length_reward(tokens: str) -> RewardFunction:
    """Return a reward of 1 at exactly this many tokens, falling evenly to 0 at none and at twice as many.

    The count includes the token that ends the completion.
    """
    target = int(tokens)

    def reward(
        prompts: Sequence[str],  # noqa: ARG001 - part of TRL's signature
        completions: Sequence[str],  # noqa: ARG001
        *,
        answer: Sequence[str | None],  # noqa: ARG001
        completion_ids: Sequence[Sequence[int]],
        **columns: Sequence[Any],  # noqa: ARG001
    ) -> list[float | None]:
        return [max(0.0, 1.0 - abs(len(ids) - target) / target) for ids in completion_ids]

    return reward


def make_human_reward(argument: str) -> RewardFunction:  # noqa: ARG001 - no argument
    """Return the reward of people: no opinion until they have rated, which the trainer fills in."""

    def reward(
        prompts: Sequence[str],  # noqa: ARG001 - part of TRL's signature
        completions: Sequence[str],
        *,
        answer: Sequence[str | None],  # noqa: ARG001
        completion_ids: Sequence[Sequence[int]],  # noqa: ARG001
        **columns: Sequence[Any],  # noqa: ARG001
    ) -> list[float | None]:
        return [None] * len(completions)

    return reward


def make_python_reward(reference: str) -> RewardFunction:
    """Return the function that `FILE.py::function` names; it runs in a child process, see `ForeignReward`."""
    return ForeignReward(parse_reference(reference))


def check_pattern(pattern: str) -> str | None:
    """Return a sentence when the text is no regular expression, else None."""
    if not pattern:
        return "Enter a regular expression, for example ^\\d+$ for an answer that is only digits."
    try:
        regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as error:
        return f"{pattern!r} is no regular expression: {error}."
    return None


def check_length(tokens: str) -> str | None:
    """Return a sentence when the text is no length in tokens, else None."""
    if tokens.isascii() and tokens.isdigit() and len(tokens) < 9 and int(tokens) >= 1:
        return None
    return f"Enter the wanted length as a whole number of tokens, 1 or more; got {tokens!r}."


def _check_no_argument(argument: str) -> str | None:
    return f"This reward takes no argument; got {argument!r}." if argument else None


REWARDS: dict[str, RewardKind] = {
    kind.kind: kind
    for kind in (
        RewardKind(
            "exact",
            "Exact answer",
            "1 when the completion equals the answer (spaces around it aside), else 0.",
            True,
            "",
            _by_answer(exact_score),
            _check_no_argument,
        ),
        RewardKind(
            "numeric",
            "Equal number",
            "1 when the last number in the completion has the value of the last number in the answer "
            "(9.90 equals 9.9), else 0. No opinion when the answer has no number.",
            True,
            "",
            _by_answer(numeric_score),
            _check_no_argument,
        ),
        RewardKind(
            "partial",
            "Partial credit",
            "1 when the completion equals the answer, else 0.2 times the share of characters in the right place.",
            True,
            "",
            _by_answer(partial_score),
            _check_no_argument,
        ),
        RewardKind(
            "regex",
            "Regular expression",
            "1 when the pattern is found in the completion, else 0. Anchor it with ^ and $ to check the whole format.",
            False,
            "pattern",
            make_pattern_reward,
            check_pattern,
        ),
        RewardKind(
            "length",
            "Length",
            "1 at exactly the wanted number of tokens (the end token counts), falling evenly to 0 at none and at twice "
            "as many.",
            False,
            "tokens",
            make_length_reward,
            check_length,
        ),
        RewardKind(
            "contains_plus_length",
            "Contains the answer, plus length (can be hacked)",
            "1 when the answer stands anywhere in the completion, plus 0.2 for every character. Made to be hacked: "
            "long nonsense earns more than the answer.",
            True,
            "",
            _by_answer(contains_plus_length_score),
            _check_no_argument,
        ),
        RewardKind(
            "human",
            "Ratings by hand",
            "What people say in the Rate view. No opinion until a group is rated; a group with a single rated "
            "completion teaches nothing.",
            False,
            "",
            make_human_reward,
            _check_no_argument,
        ),
        RewardKind(
            "python",
            "Function in a Python file",
            "A function of TRL's signature in a file of yours. It runs in a process of its own with a time limit, "
            "after you have confirmed the file.",
            False,
            "FILE.py::function",
            make_python_reward,
            check_reference,
        ),
        RewardKind(
            "math_verify",
            "Equal in mathematics (math-verify)",
            "1 when math-verify finds the completion equal to the answer (1/2 equals 0.5 and \\frac{1}{2}), else 0. "
            "No opinion when the answer cannot be read. Needs the package math-verify.",
            True,
            "",
            make_math_verify_reward,
            check_math_verify,
        ),
        RewardKind(
            "reasoning_gym",
            "reasoning-gym's own scorer",
            "What the task's own scorer gives; many pay something for an answer that only stands in the text. "
            "'Exact answer' is the strict one. Needs the package reasoning-gym and data reasoning_gym:NAME.",
            True,
            "",
            make_reasoning_gym_reward,
            check_reasoning_gym,
        ),
    )
}
