"""A test bench for rewards: what they give for typed text and for texts that policies like to try."""

from collections.abc import Sequence
from dataclasses import dataclass

from grpo_gui.errors import TrainingError
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.reward_process import close_reward
from grpo_gui.tasks.rewards import REWARDS

REPEATS = 64  # of one word
LONG_WORDS = 5000
ANSWERS_LISTED = 100


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One text and what each reward gave for it: a value, None for no opinion, or the failure's sentence."""

    label: str
    completion: str
    values: tuple[float | str | None, ...]
    details: tuple[str, ...] = ()  # a traceback a reward, or ""


@dataclass(frozen=True, slots=True)
class BenchReward:
    """A reward on the bench, by the kind and argument of a run's config."""

    name: str
    kind: str
    argument: str


def fuzz_texts(problem: Problem, other_answers: Sequence[str]) -> list[tuple[str, str]]:
    """Return (label, completion) for the shortcuts that a reward must not pay for.

    `other_answers` are those of other problems of the task; they make up the list of all answers.
    """
    answers = dict.fromkeys([*other_answers[:ANSWERS_LISTED], problem.answer or "yes", "no"])
    return [
        ("empty", ""),
        ("prompt echo", problem.prompt),
        ("repeated token", "the " * REPEATS),
        ("list of all answers", " ".join(answers)),
        ("very long", "because " * LONG_WORDS),
    ]


def run_bench(
    rewards: Sequence[BenchReward], problem: Problem, completions: Sequence[tuple[str, str]]
) -> list[BenchRow]:
    """Score each (label, completion) as an answer to `problem`; may take as long as the rewards' time limits.

    Each text is scored alone, so that one failure does not hide the others. Where the problem is a chat, functions of
    the user get messages, as in a run.
    """
    functions = [REWARDS[reward.kind].make(reward.argument) for reward in rewards]
    rows = []
    try:
        for label, text in completions:
            cells = [
                _score(function, problem, text, as_chat=bool(problem.messages) and reward.kind == "python")
                for function, reward in zip(functions, rewards, strict=True)
            ]
            rows.append(BenchRow(label, text, tuple(cell[0] for cell in cells), tuple(cell[1] for cell in cells)))
    finally:
        for function in functions:
            close_reward(function)
    return rows


def _score(function: object, problem: Problem, text: str, *, as_chat: bool) -> tuple[float | str | None, str]:
    columns = {name: [value] for name, value in problem.columns.items()}
    ids = list(range(len(text.split())))  # a word stands for a token
    assert callable(function)  # REWARDS make functions
    prompt: object = (
        [{"role": role, "content": content} for role, content in problem.messages] if as_chat else problem.prompt
    )
    completion: object = [{"role": "assistant", "content": text}] if as_chat else text
    try:
        values = function([prompt], [completion], answer=[problem.answer], completion_ids=[ids], **columns)
    except TrainingError as error:
        return str(error), getattr(error, "details", "")
    return values[0], ""
