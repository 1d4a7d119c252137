"""The slow, obvious formulation of GRPO in plain Python floats: one completion, one token at a time."""

import math
import statistics
from dataclasses import dataclass

from grpo_gui.grpo import LossConfig

Rows = list[list[float]]


def advantages_of_group(rewards: list[float], *, std: str, eps: float) -> list[float]:
    """One source, everything rated, scale `group`."""
    mean = statistics.fmean(rewards)
    spread = statistics.stdev(rewards) if std == "sample" else statistics.pstdev(rewards)
    return [0.0 if max(rewards) == min(rewards) else (reward - mean) / (spread + eps) for reward in rewards]


@dataclass
class Expected:
    loss: float
    metrics: dict[str, float]
    clipped: list[list[int]]


def loss_of_batch(
    logps: Rows, old: Rows, ref: Rows | None, mask: list[list[int]], advantages: list[float], config: LossConfig
) -> Expected:
    upper = config.epsilon if config.epsilon_high is None else config.epsilon_high
    sequence = config.importance_sampling_level == "sequence"
    policy_loss: Rows = []
    kls: Rows = []
    ratios: Rows = []
    clipped: list[list[int]] = []
    for row, advantage in enumerate(advantages):
        tokens = [token for token, active in enumerate(mask[row]) if active]
        log_ratios = [logps[row][token] - old[row][token] for token in tokens]
        if sequence and tokens:
            log_ratios = [sum(log_ratios) / len(tokens)] * len(tokens)
        policy_loss.append([])
        kls.append([])
        ratios.append([])
        clipped.append([])
        for token, log_ratio in zip(tokens, log_ratios, strict=True):
            ratio = math.exp(min(max(log_ratio, -20.0), 20.0))
            ratios[row].append(ratio)
            if config.loss_type == "cispo":
                policy_loss[row].append(-min(ratio, upper) * advantage * logps[row][token])
                clipped[row].append(1 if ratio > upper and advantage > 0 else 0)
            else:
                bounded = ratio if config.delta is None else min(ratio, config.delta)
                inside = min(max(ratio, 1 - config.epsilon), 1 + upper)
                policy_loss[row].append(-min(bounded * advantage, inside * advantage))
                low = bounded < 1 - config.epsilon and advantage < 0
                high = bounded > 1 + upper and advantage > 0
                clipped[row].append(-1 if low else 1 if high else 0)
            if ref is not None:
                difference = ref[row][token] - logps[row][token]
                kl = math.exp(difference) - difference - 1
                kls[row].append(kl * ratio if config.use_bias_correction_kl else kl)
    per_token = policy_loss
    if ref is not None:
        per_token = [
            [a + config.beta * b for a, b in zip(*rows, strict=True)] for rows in zip(policy_loss, kls, strict=True)
        ]
    metrics = {"loss": _aggregate(per_token, config), "policy_loss": _aggregate(policy_loss, config)}
    metrics["ratio/min"], metrics["ratio/max"] = min(_flat(ratios)), max(_flat(ratios))
    if ref is not None:
        metrics["kl"], metrics["kl/max"] = statistics.fmean(_flat(kls)), max(_flat(kls))
    metrics |= _clip_metrics(clipped, config)
    return Expected(metrics["loss"], metrics, clipped)


def _clip_metrics(clipped: list[list[int]], config: LossConfig) -> dict[str, float]:
    def share(flags: list[bool]) -> float:
        return sum(flags) / len(flags) if flags else 0.0

    def mean(wanted: set[int]) -> float:
        if config.importance_sampling_level == "sequence":
            return statistics.fmean(share([flag in wanted for flag in row]) for row in clipped)
        return share([flag in wanted for row in clipped for flag in row])

    if config.loss_type == "cispo":
        return {"cispo_clip_ratio": mean({1})}
    return {
        "clip_ratio/low_mean": mean({-1}),
        "clip_ratio/high_mean": mean({1}),
        "clip_ratio/region_mean": mean({-1, 1}),
        "clip_ratio/low_min": min(share([flag == -1 for flag in row]) for row in clipped),
        "clip_ratio/high_max": max(share([flag == 1 for flag in row]) for row in clipped),
    }


def _aggregate(rows: Rows, config: LossConfig) -> float:
    if config.loss_type == "grpo":
        return statistics.fmean(sum(row) / max(len(row), 1) for row in rows)
    if config.loss_type == "dr_grpo":
        return sum(_flat(rows)) / (len(rows) * config.max_completion_length)
    return sum(_flat(rows)) / max(len(_flat(rows)), 1)


def _flat(rows: Rows) -> list[float]:
    return [value for row in rows for value in row]
