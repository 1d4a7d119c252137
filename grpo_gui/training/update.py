"""One inner update: forward, loss and backward over the micro-batches of a rollout, then the optimizer."""

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from grpo_gui.errors import TrainingError
from grpo_gui.grpo.config import LossConfig
from grpo_gui.grpo.loss import grpo_loss
from grpo_gui.grpo.metric_sums import LossResult, MetricSums
from grpo_gui.language.policy import Policy
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import autocast
from grpo_gui.training.late import LateBatch
from grpo_gui.training.rollout import Checkpoint, Rollout, micro_batches


@dataclass(frozen=True, slots=True)
class Update:
    """What an inner update measured. The per-token tensors are (B, T), detached, on the device."""

    sums: MetricSums
    grad_norm: float  # before clipping
    logps: Tensor
    ratio: Tensor
    kl: Tensor
    entropy: Tensor
    clipped: Tensor  # int8
    late: "LateMeasure | None" = None


@dataclass(frozen=True, slots=True)
class LateMeasure:
    """What an inner update measured on late ratings, over their tokens."""

    ratio_mean: float
    clip_fraction: float


def loss_config_of(config: TrainConfig) -> LossConfig:
    """Return the loss options of a run."""
    return LossConfig(
        loss_type=config.loss_type,
        importance_sampling_level=config.importance_sampling_level,
        epsilon=config.epsilon,
        epsilon_high=config.epsilon_high,
        delta=config.delta,
        beta=config.beta,
        use_bias_correction_kl=config.use_bias_correction_kl,
        max_completion_length=config.max_completion_length,
    )


def make_optimizer(policy: Policy, config: TrainConfig) -> torch.optim.AdamW:
    """Return the optimizer of a run; the learning rate is set before every step."""
    trained = [parameter for parameter in policy.parameters() if parameter.requires_grad]
    return torch.optim.AdamW(
        trained, lr=config.learning_rate, betas=(0.9, 0.99), weight_decay=config.weight_decay, fused=True
    )


def inner_update(
    policy: Policy, optimizer: torch.optim.Optimizer, rollout: Rollout, config: TrainConfig, checkpoint: Checkpoint
) -> Update:
    """Do one optimizer step on a rollout; one that does not teach is only measured.

    Where nothing is rated yet all that is left is the pull of the KL term, which is nearly 0. Adam would make full
    steps of its rounding errors and walk away from the model that waits to be taught.

    Raises:
        TrainingError: the loss or the gradient is not finite; the weights are as they were before.
    """
    optimizer.zero_grad(set_to_none=True)
    sums = MetricSums()
    results: list[tuple[Tensor, Tensor, LossResult]] = []
    for batch in micro_batches(len(rollout.prompt_ids), config.micro_batch_prompts):
        checkpoint()
        with torch.set_grad_enabled(rollout.teaches):
            logps, entropy, result = _forward(policy, rollout, config, batch)
        if rollout.teaches:
            torch.autograd.backward(result.loss)  # Tensor.backward is untyped
        sums.add(result)
        results.append((logps.detach(), entropy, result))
    late = [_learn_late(policy, rollout, batch, config) for batch in rollout.late if rollout.teaches]
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    grad_norm = _clip(parameters, config.max_grad_norm)
    loss = torch.stack([result.loss.detach() for result in (*(r for _, _, r in results), *late)]).sum()
    loss_value, norm_value = torch.stack((loss, grad_norm)).tolist()
    if not (math.isfinite(loss_value) and math.isfinite(norm_value)):
        optimizer.zero_grad(set_to_none=True)
        raise TrainingError(_not_finite(policy, parameters, rollout, config, [result for _, _, result in results]))
    if rollout.teaches:
        _take_step(optimizer, rollout.step_share)
    kls = [result.kl for _, _, result in results if result.kl is not None]
    return Update(
        sums=sums,
        grad_norm=norm_value,
        logps=torch.cat([logps for logps, _, _ in results]),
        ratio=torch.cat([result.ratio for _, _, result in results]),
        kl=torch.cat(kls),
        entropy=torch.cat([entropy for _, entropy, _ in results]),
        clipped=torch.cat([result.clipped for _, _, result in results]),
        late=_late_measure(rollout.late, late) if late else None,
    )


def _take_step(optimizer: torch.optim.Optimizer, share: float) -> None:
    """Step with `share` of the learning rate."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = rate * share
    try:
        optimizer.step()
    finally:  # a run whose memory ran out here goes on with its own rate
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate


def _learn_late(policy: Policy, rollout: Rollout, batch: LateBatch, config: TrainConfig) -> LossResult:
    """Add the gradient of late ratings: the policy term alone, because KL is measured on fresh samples."""
    with autocast(policy.device, bf16=config.bf16):
        logps, _ = policy.logps(batch.prompt_ids, batch.ids, batch.lengths, temperature=batch.temperature)
    result = grpo_loss(
        logps,
        batch.old_logps,
        None,
        batch.mask,
        batch.advantages,
        replace(loss_config_of(config), beta=0.0),
        tokens_in_batch=rollout.tokens_in_batch,
        completions_in_batch=rollout.completions_in_batch,
    )
    torch.autograd.backward(result.loss)
    return result


def _late_measure(batches: tuple[LateBatch, ...], results: list[LossResult]) -> LateMeasure:
    mask = torch.cat([batch.mask.reshape(-1) for batch in batches])
    ratio = torch.cat([result.ratio.reshape(-1) for result in results])[mask]
    clipped = torch.cat([result.clipped.reshape(-1) for result in results])[mask] != 0
    ratio_mean, clip_fraction = torch.stack((ratio.mean(), clipped.float().mean())).tolist()
    return LateMeasure(ratio_mean, clip_fraction)


def _forward(
    policy: Policy, rollout: Rollout, config: TrainConfig, batch: range, only_row: int | None = None
) -> tuple[Tensor, Tensor, LossResult]:
    """Return log-probs, entropy and loss of the prompts `batch`; `only_row` masks all other rows."""
    drawn, group = rollout.drawn, config.num_generations
    rows = slice(batch.start * group, batch.stop * group)
    with autocast(policy.device, bf16=config.bf16):
        logps, entropy = policy.logps(
            [rollout.prompt_ids[index] for index in batch],
            drawn.ids[rows],
            drawn.lengths[rows],
            temperature=drawn.temperature,
            with_entropy=True,
        )
    assert entropy is not None  # asked for
    mask = rollout.mask[rows]
    if only_row is not None:
        mask = mask & (torch.arange(rows.start, rows.stop, device=mask.device) == only_row).unsqueeze(1)
    result = grpo_loss(
        logps,
        drawn.old_logps[rows],
        drawn.ref_logps[rows],
        mask,
        rollout.advantage_rows[rows],
        loss_config_of(config),
        tokens_in_batch=rollout.tokens_in_batch,
        completions_in_batch=rollout.completions_in_batch,
        entropy=entropy,
    )
    return logps, entropy, result


def _clip(parameters: list[nn.Parameter], max_grad_norm: float) -> Tensor:
    """Cut the gradient to `max_grad_norm` (0: leave it) and return its norm before."""
    if max_grad_norm > 0:
        return nn.utils.clip_grad_norm_(parameters, max_grad_norm)
    return nn.utils.get_total_norm([parameter.grad for parameter in parameters if parameter.grad is not None])


def _not_finite(
    policy: Policy,
    parameters: list[nn.Parameter],
    rollout: Rollout,
    config: TrainConfig,
    results: list[LossResult],
) -> str:
    """Return the sentence that names the completion whose loss or gradient is not finite."""
    loss_B = torch.cat([result.completion_losses for result in results])
    bad = (~torch.isfinite(loss_B)).nonzero().flatten().tolist()
    what = "loss" if bad else "gradient"
    row = bad[0] if bad else _row_with_bad_gradient(policy, parameters, rollout, config)
    advice = "The weights before it are saved; go on from them with a lower learning_rate."
    if row is None:
        return f"The {what} of the step is not finite, though that of each completion alone is. {advice}"
    prompt, completion = divmod(row, config.num_generations)
    return (
        f"The {what} of completion {completion + 1} ({rollout.read.texts[row]!r}) to prompt {prompt + 1} "
        f"({rollout.drawn.problems[prompt].prompt!r}) is not finite. {advice}"
    )


def _row_with_bad_gradient(
    policy: Policy, parameters: list[nn.Parameter], rollout: Rollout, config: TrainConfig
) -> int | None:
    """Find the completion by one backward pass each; slow, and only done when a run fails."""
    for row in range(len(rollout.read.texts)):
        prompt = row // config.num_generations
        _, _, result = _forward(policy, rollout, config, range(prompt, prompt + 1), only_row=row)
        gradients = torch.autograd.grad(result.loss, parameters, allow_unused=True)
        if any(not bool(torch.isfinite(gradient).all()) for gradient in gradients if gradient is not None):
            return row
    return None
