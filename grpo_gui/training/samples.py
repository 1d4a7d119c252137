"""Turn a step's rollout and its last inner update into the plain records of the events."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.grpo.metric_sums import MetricSums
from grpo_gui.language.tokenizer import Tokenizer
from grpo_gui.training.rollout import Rollout
from grpo_gui.training.update import Update

Float32Array = npt.NDArray[np.float32]


class _Host(NamedTuple):
    """The per-token values (B, T) and their summaries (B,) in ordinary memory."""

    old_logps: Float32Array
    logps: Float32Array
    ref_logps: Float32Array
    entropy: Float32Array
    clipped: npt.NDArray[np.int8]
    ratio_min: list[float]
    ratio_max: list[float]
    low: list[float]
    high: list[float]
    kl_mean: list[float]
    kl_max: list[float]


def group_samples(
    rollout: Rollout, update: Update, tokenizer: Tokenizer, sources: tuple[str, ...]
) -> tuple[GroupSample, ...]:
    """Return the groups of a step as events carry them."""
    host = _to_host(rollout, update)
    prompts, group = rollout.advantages.shape
    completions = _completions(rollout, host, tokenizer, sources)
    return tuple(
        GroupSample(
            index=index,
            task=problem.task,
            prompt=problem.prompt,
            answer=problem.answer,
            prompt_token_ids=tuple(rollout.prompt_ids[index]),
            completions=tuple(completions[index * group : (index + 1) * group]),
        )
        for index, problem in enumerate(rollout.drawn.problems[:prompts])
    )


def unlearned(rollout: Rollout) -> Update:
    """Return what an inner update would have measured before it changed anything; entropy is not known yet."""
    drawn = rollout.drawn
    difference = drawn.ref_logps - drawn.old_logps
    return Update(
        sums=MetricSums(),
        grad_norm=0.0,
        logps=drawn.old_logps,
        ratio=torch.ones_like(drawn.old_logps),
        kl=torch.expm1(difference) - difference,
        entropy=torch.full_like(drawn.old_logps, torch.nan),
        clipped=torch.zeros_like(drawn.ids, dtype=torch.int8),
    )


def _to_host(rollout: Rollout, update: Update) -> _Host:
    drawn = rollout.drawn
    parts = (drawn.old_logps, update.logps, drawn.ref_logps, update.entropy, update.ratio, update.kl)
    with_clipped = torch.stack([part.float() for part in parts] + [update.clipped.float()])
    old_logps, logps, ref_logps, entropy, ratio, kl, clipped = with_clipped.cpu().numpy()
    lengths = np.asarray([len(ids) for ids in rollout.read.completion_ids])
    inside = np.arange(ratio.shape[1]) < lengths[:, None]
    return _Host(
        old_logps=old_logps.astype("<f4", copy=False),
        logps=logps.astype("<f4", copy=False),
        ref_logps=ref_logps.astype("<f4", copy=False),
        entropy=entropy.astype("<f4", copy=False),
        clipped=clipped.astype(np.int8),
        ratio_min=np.where(inside, ratio, np.inf).min(axis=1).tolist(),
        ratio_max=np.where(inside, ratio, -np.inf).max(axis=1).tolist(),
        low=((clipped < 0).sum(axis=1) / lengths).tolist(),
        high=((clipped > 0).sum(axis=1) / lengths).tolist(),
        kl_mean=(np.where(inside, kl, 0.0).sum(axis=1) / lengths).tolist(),
        kl_max=np.where(inside, kl, -np.inf).max(axis=1).tolist(),
    )


def _completions(
    rollout: Rollout, host: _Host, tokenizer: Tokenizer, sources: tuple[str, ...]
) -> list[CompletionSample]:
    group = rollout.advantages.shape[1]
    rewards = rollout.drawn.rewards.tolist()
    totals, advantages = rollout.totals.tolist(), rollout.advantages.reshape(-1).tolist()
    samples = []
    for row, ids in enumerate(rollout.read.completion_ids):
        length = len(ids)
        samples.append(
            CompletionSample(
                index=row % group,
                text=rollout.read.texts[row],
                token_ids=tuple(ids),
                tokens=tokenizer.token_texts(ids),
                truncated=rollout.read.truncated[row],
                correct=rollout.correct[row],
                reward=_value(totals[row]),
                rewards=tuple(zip(sources, map(_value, rewards[row]), strict=True)),
                advantage=advantages[row],
                old_logps=host.old_logps[row, :length].tobytes(),
                logps=host.logps[row, :length].tobytes(),
                ref_logps=host.ref_logps[row, :length].tobytes(),
                entropy=host.entropy[row, :length].tobytes(),
                clipped=host.clipped[row, :length].tobytes(),
                ratio_min=host.ratio_min[row],
                ratio_max=host.ratio_max[row],
                clip_fraction_low=host.low[row],
                clip_fraction_high=host.high[row],
                kl_mean=host.kl_mean[row],
                kl_max=host.kl_max[row],
            )
        )
    return samples


def _value(number: float) -> float | None:
    return None if math.isnan(number) else number
