"""A data file written anew without some of its prompts."""

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.prompt_file import read_prompt_file
from grpo_gui.training.config import TrainConfig


def copy_without(config: TrainConfig, target: Path, left_out: Collection[str]) -> TrainConfig:
    """Write the prompts of a run's data file but `left_out` as JSON lines; return the config that uses the copy.

    Raises:
        BadInputError: the file cannot be read or written, or nothing would be left.
    """
    source = Path(config.prompt_file)
    if target.resolve() == source.resolve():
        raise BadInputError(f"{target} is the data file itself; choose another name for the copy.")
    kept = [problem for problem in read_prompt_file(source) if problem.prompt not in left_out]
    if not kept:
        raise BadInputError(f"No prompt of {source} would be left; take other prompts.")
    lines = "".join(json.dumps(_row(problem), ensure_ascii=False) + "\n" for problem in kept)
    try:
        target.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{target} cannot be written ({error.strerror}); choose another folder.") from error
    return replace(config, prompt_file=str(target))


def _row(problem: Problem) -> dict[str, Any]:
    prompt: Any = problem.prompt
    if problem.messages:
        prompt = [{"role": role, "content": content} for role, content in problem.messages]
    row = {**problem.columns, "prompt": prompt}
    return row if problem.answer is None else {**row, "answer": problem.answer}
