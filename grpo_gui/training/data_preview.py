"""The first rows of a run's data as the model will see them: in its chat template, counted, and cut where too long."""

import random
from itertools import islice
from pathlib import Path

from grpo_gui.tasks.gym_task import REASONING_GYM
from grpo_gui.tasks.making import make_task
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.prompt_file import read_prompt_file
from grpo_gui.tasks.rewards import needs_answer
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.data_rows import DataPreview, DataRow
from grpo_gui.training.models import model_options

READ_WHOLE_BYTES = 20_000_000  # of a longer file only the first rows are read here


def preview_data(config: TrainConfig, rows: int = 3) -> DataPreview:
    """Read the data of a config whose task is a file. Imports torch: call it off the GUI thread.

    Raises:
        BadInputError: naming the lines that cannot be used.
        ModelError: the model's tokenizer cannot be used.
        MissingExtraError: a package is missing.
    """
    from grpo_gui.language.chat_tokenizer import ChatTokenizer
    from grpo_gui.language.hf_loading import load_tokenizer_of
    from grpo_gui.training.rollout import encode_prompts

    problems, count = _first(config, rows)
    tokenizer = load_tokenizer_of(config.model, model_options(config))
    shown = []
    for problem, ids in zip(problems, encode_prompts(tokenizer, problems), strict=True):
        whole = tokenizer.full_length(problem.messages, problem.prompt) if isinstance(tokenizer, ChatTokenizer) else 0
        text = str(tokenizer.raw.decode(ids, skip_special_tokens=False))
        shown.append(DataRow(text, problem.answer, len(ids), max(0, whole - len(ids))))
    return DataPreview(tuple(shown), count)


def _first(config: TrainConfig, rows: int) -> tuple[list[Problem], int | None]:
    with_answer = needs_answer(spec.kind for spec in config.rewards)
    if config.prompt_file.startswith(REASONING_GYM):
        task, rng = make_task("file", prompt_file=config.prompt_file), random.Random(config.seed)
        return [task.sample(rng) for _ in range(rows)], None
    path = Path(config.prompt_file)
    problems = read_prompt_file(path, needs_answer=with_answer)
    first = list(islice(problems, rows))
    if len(first) == rows and path.stat().st_size > READ_WHOLE_BYTES:
        return first, None
    return first, len(first) + sum(1 for _ in problems)
