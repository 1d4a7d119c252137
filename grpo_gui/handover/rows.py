"""A task's problems as rows of a data set for TRL, and back again for the reward functions."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from grpo_gui.errors import BadInputError
from grpo_gui.outside.trl_samples import SHOWN_PROMPT
from grpo_gui.tasks.problem import Problem, Task
from grpo_gui.training.config import TrainConfig

PROBLEM = "grpo_gui_problem"  # a column with the whole problem as JSON: columns of a data file may hold anything

Row = dict[str, Any]


def drawn_rows(config: TrainConfig, task: Task, count: int, *, has_template: bool, suffix: str = "") -> list[Row]:
    """Draw training problems; the same seed gives the same rows in every process."""
    rng = random.Random(config.seed)
    return [row_of(task.sample(rng), config, has_template=has_template, suffix=suffix) for _ in range(count)]


def row_of(problem: Problem, config: TrainConfig, *, has_template: bool, suffix: str = "") -> Row:
    """One row: the prompt as TRL takes it and as it is shown, the answer, and the problem itself.

    Args:
        problem: what to ask.
        config: its chat template and system prompt are used as the trainer of this program does.
        has_template: the model's tokenizer has a chat template.
        suffix: ends a prompt that is plain text.

    Raises:
        BadInputError: the problem is a chat, and the model has no chat template.
    """
    prompt: str | list[dict[str, str]]
    if has_template and config.chat_template:
        messages = list(problem.messages) or [("user", problem.prompt)]
        if config.system_prompt and messages[0][0] != "system":
            messages.insert(0, ("system", config.system_prompt))
        prompt = [{"role": role, "content": content} for role, content in messages]
    elif problem.messages:
        raise BadInputError(
            "The data hold chats, but the model has no chat template or may not use it; choose an instruct model."
        )
    else:
        begin = f"{config.system_prompt}\n\n" if config.system_prompt else ""
        prompt = f"{begin}{problem.prompt}{suffix}"
    whole = json.dumps(asdict(problem), ensure_ascii=False)
    return {"prompt": prompt, SHOWN_PROMPT: problem.prompt, "answer": problem.answer, PROBLEM: whole}


def problem_of(text: str) -> Problem:
    """The problem that `row_of` wrote into its column."""
    values = json.loads(text)
    values["messages"] = tuple((role, content) for role, content in values["messages"])
    return Problem(**values)


def text_of(completion: str | Sequence[Mapping[str, str]]) -> str:
    """A completion as text; TRL gives that of a chat as messages."""
    return completion if isinstance(completion, str) else "".join(message["content"] for message in completion)
