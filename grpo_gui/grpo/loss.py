"""The GRPO objective: ratio, clip, KL penalty and aggregation, on tensors of (completions, tokens)."""

from typing import NamedTuple

import torch
from torch import Tensor

from grpo_gui.grpo.config import LossConfig
from grpo_gui.grpo.metric_sums import LossResult, MetricSums, loss_layout

MAX_LOG_RATIO = 20.0  # exp(20) is 4.9e8: far outside of any clip range, far inside of float32


def grpo_loss(
    logps: Tensor,
    old_logps: Tensor | None,
    ref_logps: Tensor | None,
    mask: Tensor,
    advantages: Tensor,
    config: LossConfig,
    *,
    tokens_in_batch: int | Tensor | None = None,
    completions_in_batch: int | None = None,
    entropy: Tensor | None = None,
) -> LossResult:
    """Return the loss of a batch, or of a micro-batch, of completions.

    `logps` (B, T) carries the gradient. `old_logps` None means on-policy: ratio 1, with gradient. With `ref_logps`
    the KL is always measured; it enters the loss when `beta` is not 0. `mask` (B, T) is 1 on the tokens up to and
    including the first EOS; values elsewhere are ignored, NaN too. `advantages` is (B,) or (B, T). `entropy` (B, T),
    in nats, is only measured.

    For a micro-batch hand in the totals of the whole batch: `tokens_in_batch` (dapo, cispo) and
    `completions_in_batch` (all others). The losses of the micro-batches then add up to the batch's loss and so do
    their gradients; bnpo alone is defined by the micro-batch, each one weighing by its completions.

    Sources: DeepSeekMath (arXiv 2402.03300) equation 3 (grpo) and 4 (K3), DAPO (2503.14476) equation 8,
    Dr. GRPO (2503.20783), GSPO (2507.18071) equation 5, CISPO (2506.13585) equation 4; the names are TRL's.

    Raises:
        ValueError: `beta` is not 0 and there are no `ref_logps`.
    """
    if config.beta != 0 and ref_logps is None:
        raise ValueError(f"beta is {config.beta}, but there are no log-probs of the reference; hand them in.")
    batch = _Batch.of(logps, mask, advantages, completions_in_batch)
    ratio = _ratio(logps, old_logps, batch, config)
    policy = _policy_terms(logps, ratio, batch.advantages, config)
    kl = None if ref_logps is None else _k3(logps, ref_logps, ratio, batch, config)
    per_token = policy.loss if kl is None or config.beta == 0 else policy.loss + config.beta * kl
    scale = _scale(config, batch, tokens_in_batch)
    loss_B = torch.where(batch.mask, per_token, 0.0).sum(1) * scale
    loss = loss_B.sum()
    with torch.no_grad():
        clipped = policy.high.char() if policy.low is None else policy.high.char() - policy.low.char()
        return LossResult(
            loss=loss,
            completion_losses=loss_B.detach(),
            ratio=ratio.detach().expand_as(logps),
            kl=None if kl is None else kl.detach(),
            clipped=clipped * batch.mask,
            sums=_sums(loss.detach(), policy, ratio, kl, entropy, scale, batch, config),
        )


class _Batch(NamedTuple):
    mask: Tensor  # (B, T) bool
    lengths: Tensor  # (B,) tokens of each completion, in the dtype of logps
    tokens: Tensor  # scalar
    advantages: Tensor  # (B, 1) or (B, T)
    completions: int  # of the whole batch
    share: float  # of this micro-batch in it

    @classmethod
    def of(cls, logps: Tensor, mask: Tensor, advantages: Tensor, completions_in_batch: int | None) -> "_Batch":
        advantages = advantages.to(logps.dtype)
        if advantages.dim() == 1:
            advantages = advantages.unsqueeze(1)
        mask = mask.bool()
        lengths_B = mask.sum(1, dtype=logps.dtype)
        completions = len(logps) if completions_in_batch is None else completions_in_batch
        return cls(mask, lengths_B, lengths_B.sum(), advantages, completions, len(logps) / completions)


class _PolicyTerms(NamedTuple):
    loss: Tensor  # (B, T), or (B, 1) at sequence level
    low: Tensor | None  # bool: clipping took the gradient away below, or above
    high: Tensor


def _ratio(logps: Tensor, old_logps: Tensor | None, batch: _Batch, config: LossConfig) -> Tensor:
    """Importance ratio: (B, T) at token level, (B, 1) at sequence level."""
    old_logps = logps.detach() if old_logps is None else old_logps
    log_ratio = torch.where(batch.mask, logps - old_logps, 0.0)
    if config.importance_sampling_level == "sequence":
        log_ratio = (log_ratio.sum(1) / batch.lengths.clamp(min=1)).unsqueeze(1)
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def _policy_terms(logps: Tensor, ratio: Tensor, advantages: Tensor, config: LossConfig) -> _PolicyTerms:
    if config.loss_type == "cispo":
        cap = config.upper_epsilon
        weight = ratio.detach().clamp(max=cap) * advantages
        return _PolicyTerms(-weight * logps, None, (ratio > cap) & (advantages > 0))
    lowest, highest = 1 - config.epsilon, 1 + config.upper_epsilon
    bounded = ratio if config.delta is None else ratio.clamp(max=config.delta)
    objective = torch.minimum(bounded * advantages, ratio.clamp(lowest, highest) * advantages)
    low = (bounded < lowest) & (advantages < 0)
    return _PolicyTerms(-objective, low, (bounded > highest) & (advantages > 0))


def _k3(logps: Tensor, ref_logps: Tensor, ratio: Tensor, batch: _Batch, config: LossConfig) -> Tensor:
    """K3 estimate (B, T) of KL(policy || reference): exp(d) - d - 1 with d = ref_logps - logps; never negative."""
    if config.beta == 0:  # measured only
        logps, ratio = logps.detach(), ratio.detach()
    difference = torch.where(batch.mask, ref_logps - logps, 0.0)
    kl = torch.expm1(difference) - difference
    return kl * ratio if config.use_bias_correction_kl else kl


def _scale(config: LossConfig, batch: _Batch, tokens_in_batch: int | Tensor | None) -> Tensor | float:
    """Return what the sum over the tokens of a completion is multiplied by: (B,) or one number."""
    match config.loss_type:
        case "grpo":
            return 1 / (batch.lengths.clamp(min=1) * batch.completions)
        case "bnpo":
            return batch.share / batch.tokens.clamp(min=1)
        case "dr_grpo":
            assert config.max_completion_length is not None  # LossConfig sees to it
            return 1 / (batch.completions * config.max_completion_length)
        case _:  # dapo, cispo
            if isinstance(tokens_in_batch, int):
                return 1 / max(tokens_in_batch, 1)
            return 1 / (batch.tokens if tokens_in_batch is None else tokens_in_batch).clamp(min=1)


def _sums(
    loss: Tensor,
    policy: _PolicyTerms,
    ratio: Tensor,
    kl: Tensor | None,
    entropy: Tensor | None,
    scale: Tensor | float,
    batch: _Batch,
    config: LossConfig,
) -> MetricSums:
    """Sums and extremes for the metrics, in the order of `loss_layout`; few large operations on purpose."""
    cispo, sequence = config.loss_type == "cispo", config.importance_sampling_level == "sequence"
    flags = [policy.high] if policy.low is None else [policy.low, policy.high]
    optional = [values for values in (kl, entropy) if values is not None]
    per_token = [values.expand_as(batch.mask) for values in (policy.loss, *flags, *optional)]
    sums_KB = torch.where(batch.mask, torch.stack(per_token), 0.0).sum(2)
    clips_KB = sums_KB[1 : 1 + len(flags)]
    fractions_KB = clips_KB / batch.lengths.clamp(min=1)
    clips = (fractions_KB if sequence else clips_KB).sum(1)
    region = [] if cispo else [clips.sum(0, keepdim=True)]  # low and high never hold at once
    policy_loss = (sums_KB[0] * scale).sum()
    totals = torch.cat((torch.stack((loss, policy_loss)), clips, *region, sums_KB[1 + len(flags) :].sum(1)))

    ratio = ratio.expand_as(batch.mask)
    measured = torch.stack((-ratio, ratio) if kl is None else (-ratio, ratio, kl))
    extremes = torch.where(batch.mask, measured, -torch.inf).amax((1, 2))
    if not cispo:
        extremes = torch.cat(
            (extremes, (-fractions_KB[0]).amax(0, keepdim=True), fractions_KB[1].amax(0, keepdim=True))
        )
    layout = loss_layout(cispo=cispo, sequence=sequence, with_kl=kl is not None, with_entropy=entropy is not None)
    return MetricSums.of_batch(layout, totals, extremes, batch.tokens, len(batch.mask), batch.share)
