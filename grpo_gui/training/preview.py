"""One sampled group of the policy as it is now: what the run form shows before training."""

import random
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.models import model_options
from grpo_gui.training.run_task import task_of

if TYPE_CHECKING:
    from grpo_gui.language.tokenizer import Tokenizer
    from grpo_gui.training.rollout import Rollout


def preview(config: TrainConfig, seed: int) -> GroupSample:
    """Sample one group for a prompt of the config's task, scored and judged, without training anything.

    Imports torch and loads the policy: call it off the GUI thread. The same seed gives the same group.
    Per-token values beside the log-probabilities are empty, since nothing was updated.

    Raises:
        BadInputError: the task or the device cannot be used.
        ModelError: the policy cannot be loaded.
        TrainingError: a reward source returned something unusable.
    """
    import torch

    from grpo_gui.language.hf_loading import open_policy
    from grpo_gui.training.clock import StepClock
    from grpo_gui.training.devices import choose_device
    from grpo_gui.training.rollout import sample_rollout
    from grpo_gui.training.scoring import Scorer

    task = task_of(config)
    policy = open_policy(config.model, choose_device(config.device), model_options(config))
    scorer = Scorer(config.rewards)
    with closing(scorer), torch.no_grad():
        rollout = sample_rollout(
            policy,
            policy,
            task,
            scorer,
            replace(config, prompts_per_step=1, micro_batch_prompts=0),
            task_rng=random.Random(seed),
            generator=torch.Generator(policy.device).manual_seed(seed),
            clock=StepClock(),
            checkpoint=_nothing,
        )
    problem = rollout.drawn.problems[0]
    return GroupSample(
        index=0,
        task=problem.task,
        prompt=problem.prompt,
        answer=problem.answer,
        prompt_token_ids=tuple(rollout.prompt_ids[0]),
        completions=tuple(
            _completion(rollout, row, policy.tokenizer, scorer.sources) for row in range(config.num_generations)
        ),
    )


def _completion(rollout: "Rollout", row: int, tokenizer: "Tokenizer", sources: tuple[str, ...]) -> CompletionSample:
    ids = rollout.read.completion_ids[row]
    logps = rollout.drawn.old_logps[row, : len(ids)].float().cpu().numpy().astype("<f4").tobytes()
    return CompletionSample(
        index=row,
        text=rollout.read.texts[row],
        token_ids=tuple(ids),
        tokens=tokenizer.token_texts(ids),
        truncated=rollout.read.truncated[row],
        correct=rollout.correct[row],
        reward=_opinion(float(rollout.totals[row])),
        rewards=tuple(zip(sources, map(_opinion, rollout.drawn.rewards[row].tolist()), strict=True)),
        advantage=float(rollout.advantages[0, row]),
        old_logps=logps,
        logps=logps,
        ref_logps=b"",
        entropy=b"",
        clipped=b"",
        ratio_min=1.0,
        ratio_max=1.0,
        clip_fraction_low=0.0,
        clip_fraction_high=0.0,
        kl_mean=None,
        kl_max=None,
    )


def _opinion(value: float) -> float | None:
    return value if value == value else None  # NaN: no opinion


def _nothing() -> None:
    """Between micro-batches there is no command to obey."""
