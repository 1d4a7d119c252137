"""The metrics of a rollout that need no gradient: rewards, advantages, dead groups, completion lengths."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grpo_gui.grpo.advantages import Float64Array, combined_rewards

DEAD_BELOW = 1e-9  # the largest |advantage| of a group without signal; above 0 because sums of rewards are rounded


def rollout_metrics(
    rewards_PGF: npt.ArrayLike,
    weights: Sequence[float] | None,
    advantages_PG: npt.ArrayLike,
    lengths: npt.ArrayLike,
    truncated: npt.ArrayLike,
    correct: npt.ArrayLike,
    *,
    sources: Sequence[str],
) -> dict[str, float]:
    """Return the rollout's metrics by TRL's names; NaN where there is nothing to take the mean of.

    `rewards_PGF` (P, G, F) holds None or NaN for "no opinion"; `sources` names its last axis.
    `advantages_PG` is (P, G). `lengths` (in tokens), `truncated` and `correct` (None where a problem has
    no answer) are (P, G) or (P*G,).
    """
    rewards = np.asarray(rewards_PGF, dtype=np.float64)
    advantages = np.asarray(advantages_PG, dtype=np.float64)
    weights_F = np.ones(len(sources)) if weights is None else np.asarray(weights, dtype=np.float64)
    reward_PG = combined_rewards(rewards, weights_F)
    rated = ~np.isnan(reward_PG)
    metrics = {"reward": _mean(reward_PG[rated]), "reward_std": _std(reward_PG[rated])}
    metrics["reward_group_std"] = _mean(_group_stds(reward_PG))
    for index, source in enumerate(sources):
        values = rewards[:, :, index]
        spoken = values[~np.isnan(values)]
        metrics[f"rewards/{source}/mean"], metrics[f"rewards/{source}/std"] = _mean(spoken), _std(spoken)
    metrics |= dead_groups(advantages, correct)
    metrics |= _completions(np.asarray(lengths).reshape(-1), np.asarray(truncated, dtype=bool).reshape(-1))
    metrics |= _advantages(advantages[rated])
    return metrics


def _group_stds(reward_PG: Float64Array) -> Float64Array:
    """Sample standard deviations of the groups in which at least two completions have a reward."""
    rows = [row[~np.isnan(row)] for row in reward_PG]
    return np.array([row.std(ddof=1) for row in rows if row.size > 1], dtype=np.float64)


def dead_groups(advantages_PG: Float64Array, correct: npt.ArrayLike) -> dict[str, float]:
    """Return the share of groups (P, G) that teach nothing, and of those all right, all wrong, and neither."""
    dead = np.abs(advantages_PG).max(axis=1) < DEAD_BELOW
    correct_PG = np.asarray(correct, dtype=np.float64).reshape(advantages_PG.shape)  # None becomes NaN
    right = (correct_PG == 1).all(axis=1)
    wrong = (correct_PG == 0).all(axis=1)
    return {
        "frac_reward_zero_std": float(dead.mean()),
        "dead_groups/all_right": float((dead & right).mean()),
        "dead_groups/all_wrong": float((dead & wrong).mean()),
        "dead_groups/other": float((dead & ~right & ~wrong).mean()),
    }


def _completions(lengths: npt.NDArray[np.int64], truncated: npt.NDArray[np.bool_]) -> dict[str, float]:
    return {
        "completions/mean_length": float(lengths.mean()),
        "completions/min_length": float(lengths.min()),
        "completions/max_length": float(lengths.max()),
        "completions/clipped_ratio": float(truncated.mean()),
        "completions/mean_terminated_length": _mean(lengths[~truncated].astype(np.float64)),
    }


def _advantages(values: Float64Array) -> dict[str, float]:
    return {
        "advantage/mean": _mean(values),
        "advantage/std": _std(values),
        "advantage/min": float(values.min()) if values.size else math.nan,
        "advantage/max": float(values.max()) if values.size else math.nan,
    }


def _mean(values: Float64Array) -> float:
    return float(values.mean()) if values.size else math.nan


def _std(values: Float64Array) -> float:
    return float(values.std(ddof=1)) if values.size > 1 else math.nan
