"""Held-out evaluation: one completion a prompt, sampled at temperature 1, apart from the training's randomness."""

from collections.abc import Iterable

import numpy as np
import torch

from grpo_gui.language.policy import Policy
from grpo_gui.language.sampling import SamplingConfig
from grpo_gui.tasks.problem import Problem
from grpo_gui.tasks.rewards import is_right
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import autocast
from grpo_gui.training.rollout import encode_prompts, micro_batches, read_completions
from grpo_gui.training.scoring import Scorer

SEED_OFFSET = 7_919  # any number that keeps the evaluation's draws apart from the training's


def evaluate(policy: Policy, problems: list[Problem], scorer: Scorer, config: TrainConfig) -> dict[str, float]:
    """Return `eval/reward`, `eval/accuracy` and, when there are several tasks, `eval/{task}/accuracy`.

    The same random numbers are used in every evaluation of a run, so that two of them differ by what was
    learned more than by luck. A name is left out where nothing can be measured (no answers, no reward spoke).
    """
    generator = torch.Generator(policy.device).manual_seed(config.seed + SEED_OFFSET)
    sampling = SamplingConfig(max_new_tokens=config.max_completion_length)
    prompt_ids = encode_prompts(policy.tokenizer, problems)
    texts: list[str] = []
    completion_ids: list[list[int]] = []
    rows_at_once = (config.micro_batch_prompts or config.prompts_per_step) * config.num_generations
    for batch in micro_batches(len(problems), rows_at_once):
        with autocast(policy.device, bf16=config.bf16):
            sampled = policy.sample([prompt_ids[index] for index in batch], 1, sampling, generator)
        read = read_completions(sampled.ids, sampled.lengths, sampled.truncated, policy.tokenizer)
        texts += read.texts
        completion_ids += read.completion_ids
    right = [is_right(problem, text) for problem, text in zip(problems, texts, strict=True)]
    totals = scorer.total(scorer.score(problems, texts, completion_ids))
    metrics = _mean("eval/reward", totals[~np.isnan(totals)].tolist())
    metrics |= _mean("eval/accuracy", right)
    tasks = list(dict.fromkeys(problem.task for problem in problems))
    if len(tasks) > 1:
        for task in tasks:
            of_task = [value for problem, value in zip(problems, right, strict=True) if problem.task == task]
            metrics |= _mean(f"eval/{task}/accuracy", of_task)
    return metrics


def _mean(name: str, values: Iterable[float | bool | None]) -> dict[str, float]:
    known = [float(value) for value in values if value is not None]
    return {name: sum(known) / len(known)} if known else {}
