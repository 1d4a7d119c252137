"""Late ratings as tensors: groups of earlier steps that an update learns from with their stored log-probs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from grpo_gui.language.policy import Policy
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import autocast
from grpo_gui.training.human_term import LateGroup
from grpo_gui.training.rating_source import SampledGroup

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LateBatch:
    """Late groups of one size and temperature. B rows, prompt-major; T tokens."""

    prompt_ids: list[list[int]]
    ids: Tensor  # (B, T) int64
    lengths: Tensor  # (B,) int64
    old_logps: Tensor  # (B, T) float32
    mask: Tensor  # (B, T) bool: the tokens that are trained on
    advantages: Tensor  # (B,) float32
    temperature: float


def late_batches(
    groups: Sequence[LateGroup],
    advantages: Sequence[npt.NDArray[np.float64]],
    config: TrainConfig,
    device: torch.device,
) -> tuple[LateBatch, ...]:
    """Put the groups together that can go through one forward pass: at most a micro-batch of them."""
    alike: dict[tuple[int, float], list[tuple[SampledGroup, npt.NDArray[np.float64]]]] = {}
    for group, advantage in zip(groups, advantages, strict=True):
        alike.setdefault((group.sampled.size, group.sampled.temperature), []).append((group.sampled, advantage))
    return tuple(
        _batch([group for group, _ in part], np.concatenate([advantage for _, advantage in part]), config, device)
        for members in alike.values()
        for part in _parts(members, config.micro_batch_prompts or len(members))
    )


def _parts(members: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for first in range(0, len(members), size):
        yield members[first : first + size]


def _batch(
    groups: Sequence[SampledGroup], advantages_B: npt.NDArray[np.float64], config: TrainConfig, device: torch.device
) -> LateBatch:
    rows = [ids for group in groups for ids in group.completion_ids]
    logps = [np.frombuffer(blob, dtype="<f4") for group in groups for blob in group.old_logps]
    widest = max(map(len, rows))
    ids = np.zeros((len(rows), widest), dtype=np.int64)
    old_logps = np.zeros((len(rows), widest), dtype=np.float32)
    mask = np.zeros((len(rows), widest), dtype=bool)
    left_out = [cut and config.mask_truncated_completions for group in groups for cut in group.truncated]
    for row, (row_ids, row_logps, out) in enumerate(zip(rows, logps, left_out, strict=True)):
        ids[row, : len(row_ids)] = row_ids
        old_logps[row, : len(row_ids)] = row_logps
        mask[row, : len(row_ids)] = not out
    return LateBatch(
        prompt_ids=[list(group.prompt_ids) for group in groups],
        ids=torch.from_numpy(ids).to(device),
        lengths=torch.tensor([len(row) for row in rows], device=device),
        old_logps=torch.from_numpy(old_logps).to(device),
        mask=torch.from_numpy(mask).to(device),
        advantages=torch.from_numpy(advantages_B).to(device, torch.float32),
        temperature=groups[0].temperature,
    )


def effective_size(policy: Policy, group: SampledGroup, config: TrainConfig) -> float:
    """Return how many of a group's samples still count: (sum w)^2 / sum w^2, Kish's effective sample size.

    w is the ratio of a completion's probability now to that when it was sampled.
    """
    batch = _batch([group], np.zeros(group.size), config, policy.device)
    with torch.no_grad(), autocast(policy.device, bf16=config.bf16):
        logps, _ = policy.logps(batch.prompt_ids, batch.ids, batch.lengths, temperature=batch.temperature)
    inside = torch.arange(batch.ids.shape[1], device=policy.device) < batch.lengths.unsqueeze(1)
    log_weights = torch.where(inside, logps - batch.old_logps, 0.0).sum(1).double()
    weights = (log_weights - log_weights.max()).exp()
    return float(weights.sum() ** 2 / (weights**2).sum())
