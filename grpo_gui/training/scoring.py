"""Score completions with the reward sources of a run."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from grpo_gui.errors import TrainingError
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.reward_process import close_reward
from grpo_gui.tasks.rewards import REWARDS
from grpo_gui.training.config import RewardSpec


class Scorer:
    """The reward sources of a run, in the order of its config (the axis F)."""

    def __init__(self, specs: Sequence[RewardSpec]) -> None:
        self.sources = tuple(spec.name for spec in specs)
        self.weights = tuple(spec.weight for spec in specs)
        self._takes_chats = {spec.name for spec in specs if spec.kind == "python"}
        self._functions = [REWARDS[spec.kind].make(spec.argument) for spec in specs]

    def score(
        self, problems: Sequence[Problem], completions: Sequence[str], completion_ids: Sequence[Sequence[int]]
    ) -> npt.NDArray[np.float64]:
        """Return the rewards (B, F) of B completions, unweighted; NaN where a source has no opinion.

        `problems` holds the problem of each completion, so each prompt stands in it G times.

        Raises:
            TrainingError: a source returned the wrong number of values, or one that is not finite.
        """
        prompts = [problem.prompt for problem in problems]
        answers = [problem.answer for problem in problems]
        names = dict.fromkeys(name for problem in problems for name in problem.columns)
        columns = {name: [problem.columns.get(name) for problem in problems] for name in names}
        chats = _as_chats(problems, completions)
        rewards_BF = np.empty((len(problems), len(self.sources)))
        for index, (source, function) in enumerate(zip(self.sources, self._functions, strict=True)):
            asked, answered = chats if source in self._takes_chats else (prompts, completions)
            values = function(asked, answered, answer=answers, completion_ids=completion_ids, **columns)
            rewards_BF[:, index] = _checked(source, values, prompts, completions)
        return rewards_BF

    def close(self) -> None:
        """End the processes of rewards that have one."""
        for function in self._functions:
            close_reward(function)

    def total(self, rewards_BF: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the weighted sum (B,) over the sources that spoke; NaN where all of them abstain."""
        total_B: npt.NDArray[np.float64] = np.nansum(rewards_BF * np.asarray(self.weights), axis=1)
        return np.where(np.isnan(rewards_BF).all(axis=1), np.nan, total_B)


def _as_chats(problems: Sequence[Problem], completions: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """Return prompts and completions as TRL hands them over: those of a chat as messages, others as text."""
    prompts: list[Any] = []
    answered: list[Any] = []
    for problem, text in zip(problems, completions, strict=True):
        chat = [{"role": role, "content": content} for role, content in problem.messages]
        prompts.append(chat or problem.prompt)
        answered.append([{"role": "assistant", "content": text}] if chat else text)
    return prompts, answered


def _checked(
    source: str, values: Sequence[float | None], prompts: Sequence[str], completions: Sequence[str]
) -> list[float]:
    if len(values) != len(completions):
        raise TrainingError(
            f"The reward {source!r} returned {len(values)} values for {len(completions)} completions; "
            "it must return one a completion."
        )
    checked = [math.nan if value is None else float(value) for value in values]
    for prompt, completion, value in zip(prompts, completions, checked, strict=True):
        if math.isinf(value):
            raise TrainingError(
                f"The reward {source!r} is infinite for the completion {completion!r} to the prompt {prompt!r}; "
                "it must return finite numbers or None."
            )
    return checked
