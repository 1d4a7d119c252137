"""One rollout: groups of completions sampled for the prompts of a step, scored and judged."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from grpo_gui.grpo.rollout_metrics import rollout_metrics
from grpo_gui.language.policy import Policy
from grpo_gui.language.sampling import Sampled, SamplingConfig
from grpo_gui.language.tokenizer import Tokenizer
from grpo_gui.tasks.problem import Problem, Task
from grpo_gui.tasks.rewards import is_right
from grpo_gui.training.clock import StepClock
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import autocast
from grpo_gui.training.human_metrics import human_metrics, of_what_was_judged
from grpo_gui.training.human_term import HumanTerm, joint_advantages
from grpo_gui.training.late import LateBatch, late_batches
from grpo_gui.training.scoring import Scorer

Checkpoint = Callable[[], None]  # called between micro-batches: handles commands, may end the run by raising


class Drawn(NamedTuple):
    """What was sampled and scored: all that cannot be computed again. B = P * G rows, prompt-major."""

    problems: tuple[Problem, ...]  # P
    ids: Tensor  # (B, T) int64
    lengths: Tensor  # (B,) int64
    truncated: Tensor  # (B,) bool
    old_logps: Tensor  # (B, T) float32
    ref_logps: Tensor  # (B, T) float32
    rewards: npt.NDArray[np.float64]  # (B, F), NaN: no opinion
    temperature: float


class Read(NamedTuple):
    """The sampled rows as Python values."""

    completion_ids: list[list[int]]  # B rows, up to and including the first EOS
    texts: list[str]
    truncated: list[bool]


@dataclass(frozen=True, slots=True)
class Rollout:
    """The groups of a step with everything that the inner updates and the record need."""

    drawn: Drawn
    read: Read
    prompt_ids: list[list[int]]
    correct: list[bool | None]  # B
    totals: npt.NDArray[np.float64]  # (B,) weighted reward, NaN: all sources abstain
    advantages: npt.NDArray[np.float64]  # (P, G)
    mask: Tensor  # (B, T) bool: the tokens that are trained on
    advantage_rows: Tensor  # (B,) float32, on the device
    tokens_in_batch: int  # of all masks
    metrics: dict[str, float]
    late: tuple[LateBatch, ...] = ()  # rated groups of earlier steps
    step_share: float = 1.0  # what the trust in the raters leaves of the learning rate
    teaches: bool = True  # False: people are asked, and neither they nor a program tell two completions apart

    @property
    def completions_in_batch(self) -> int:
        """All completions that an update learns from."""
        return len(self.read.texts) + sum(len(batch.ids) for batch in self.late)


def sample_rollout(
    policy: Policy,
    reference: Policy,
    task: Task,
    scorer: Scorer,
    config: TrainConfig,
    *,
    task_rng: random.Random,
    generator: torch.Generator,
    clock: StepClock,
    checkpoint: Checkpoint,
) -> Rollout:
    """Draw the prompts of a step, sample a group for each, and score the completions."""
    problems = tuple(task.sample(task_rng) for _ in range(config.prompts_per_step))
    prompt_ids = encode_prompts(policy.tokenizer, problems)
    with clock.measure("rollout"):
        sampled = _sample(policy, prompt_ids, config, generator, checkpoint)
        read = read_completions(sampled.ids, sampled.lengths, sampled.truncated, policy.tokenizer)
    with clock.measure("reward"):
        repeated = [problem for problem in problems for _ in range(config.num_generations)]
        rewards_BF = scorer.score(repeated, read.texts, read.completion_ids)
    with clock.measure("logps"):
        ref_logps = _reference_logps(reference, prompt_ids, sampled, config, checkpoint)
    drawn = Drawn(
        problems=problems,
        ids=sampled.ids,
        lengths=sampled.lengths,
        truncated=sampled.truncated,
        old_logps=sampled.logps,
        ref_logps=ref_logps,
        rewards=rewards_BF,
        temperature=config.temperature,
    )
    return judge(drawn, read, prompt_ids, scorer, config)


def judge(
    drawn: Drawn,
    read: Read,
    prompt_ids: list[list[int]],
    scorer: Scorer,
    config: TrainConfig,
    term: HumanTerm | None = None,
) -> Rollout:
    """Work out advantages, mask and metrics of what was drawn and rated; always the same for the same input.

    The ratings of the step's own groups must be in the rewards of `drawn` already.
    """
    group = config.num_generations
    correct = [is_right(drawn.problems[row // group], text) for row, text in enumerate(read.texts)]
    rewards_PGF = drawn.rewards.reshape(len(drawn.problems), group, -1)
    advantages_PG, of_late, step_share = joint_advantages(rewards_PGF, scorer, config, term)
    lengths = [len(ids) for ids in read.completion_ids]
    metrics = rollout_metrics(
        rewards_PGF,
        scorer.weights,
        advantages_PG,
        lengths,
        read.truncated,
        np.array(correct, dtype=np.float64),  # None becomes NaN
        sources=scorer.sources,
    )
    if term is not None:
        metrics = of_what_was_judged(metrics | human_metrics(term, rewards_PGF, advantages_PG, correct))
    late = () if term is None else late_batches(term.late, of_late, config, drawn.ids.device)
    left_out = [cut and config.mask_truncated_completions for cut in read.truncated]
    return Rollout(
        drawn=drawn,
        read=read,
        prompt_ids=prompt_ids,
        correct=correct,
        totals=scorer.total(drawn.rewards),
        advantages=advantages_PG,
        mask=_mask(drawn, config),
        advantage_rows=torch.from_numpy(advantages_PG.reshape(-1)).to(drawn.ids.device, torch.float32),
        tokens_in_batch=sum(length for length, out in zip(lengths, left_out, strict=True) if not out)
        + sum(int(batch.mask.sum()) for batch in late),
        metrics=metrics,
        late=late,
        step_share=step_share,
        teaches=term is None or bool(advantages_PG.any()) or any(bool(one.any()) for one in of_late),
    )


def _mask(drawn: Drawn, config: TrainConfig) -> Tensor:
    places = torch.arange(drawn.ids.shape[1], device=drawn.ids.device)
    mask = places < drawn.lengths.unsqueeze(1)
    return mask & ~drawn.truncated.unsqueeze(1) if config.mask_truncated_completions else mask


def read_completions(ids: Tensor, lengths: Tensor, truncated: Tensor, tokenizer: Tokenizer) -> Read:
    """Bring sampled rows from the device in one transfer and decode them."""
    packed = torch.cat((lengths.unsqueeze(1), truncated.long().unsqueeze(1), ids), dim=1).tolist()
    completion_ids = [row[2 : 2 + row[0]] for row in packed]
    return Read(completion_ids, [tokenizer.decode(row) for row in completion_ids], [bool(row[1]) for row in packed])


def encode_prompts(tokenizer: Tokenizer, problems: Sequence[Problem]) -> list[list[int]]:
    """Return the ids of each problem's prompt as the model expects them."""
    return [
        tokenizer.encode_chat(problem.messages) if problem.messages else tokenizer.encode_prompt(problem.prompt)
        for problem in problems
    ]


def micro_batches(prompts: int, size: int) -> list[range]:
    """Split the prompts of a step (their indices) into micro-batches of `size`; 0 is one batch of all."""
    size = size or prompts
    return [range(start, min(start + size, prompts)) for start in range(0, prompts, size)]


def _sample(
    policy: Policy,
    prompt_ids: list[list[int]],
    config: TrainConfig,
    generator: torch.Generator,
    checkpoint: Checkpoint,
) -> Sampled:
    sampling = SamplingConfig(
        temperature=config.temperature,
        top_k=config.top_k,
        top_p=config.top_p,
        max_new_tokens=config.max_completion_length,
    )
    parts = []
    for batch in micro_batches(len(prompt_ids), config.micro_batch_prompts):
        checkpoint()
        chosen = [prompt_ids[index] for index in batch]
        with autocast(policy.device, bf16=config.bf16):
            parts.append(policy.sample(chosen, config.num_generations, sampling, generator))
    return parts[0] if len(parts) == 1 else _joined(parts, policy.tokenizer.pad_id)


def _joined(parts: list[Sampled], pad_id: int) -> Sampled:
    longest = max(part.ids.shape[1] for part in parts)
    return Sampled(
        ids=torch.cat([_widened(part.ids, longest, pad_id) for part in parts]),
        lengths=torch.cat([part.lengths for part in parts]),
        truncated=torch.cat([part.truncated for part in parts]),
        logps=torch.cat([_widened(part.logps, longest, 0) for part in parts]),
    )


def _widened(rows: Tensor, width: int, fill: int) -> Tensor:
    return torch.nn.functional.pad(rows, (0, width - rows.shape[1]), value=fill)


def _reference_logps(
    reference: Policy, prompt_ids: list[list[int]], sampled: Sampled, config: TrainConfig, checkpoint: Checkpoint
) -> Tensor:
    group = config.num_generations
    parts = []
    with torch.no_grad():
        for batch in micro_batches(len(prompt_ids), config.micro_batch_prompts):
            checkpoint()
            rows = slice(batch.start * group, batch.stop * group)
            chosen = [prompt_ids[index] for index in batch]
            with autocast(reference.device, bf16=config.bf16):
                logps, _ = reference.logps(
                    chosen, sampled.ids[rows], sampled.lengths[rows], temperature=config.temperature
                )
            parts.append(logps)
    return torch.cat(parts)
