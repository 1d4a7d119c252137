"""Advantages: how much better each completion is than the others of its group."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

SCALES = ("group", "batch", "none")
AGGREGATIONS = ("sum_then_normalize", "normalize_then_sum")
STDS = ("sample", "population")


def group_advantages(
    rewards: npt.ArrayLike,
    *,
    weights: Sequence[float] | None = None,
    scale: str = "group",
    aggregation: str = "sum_then_normalize",
    std: str = "sample",
    eps: float = 1e-4,
    trust: npt.ArrayLike | None = None,
) -> Float64Array:
    """Centre the rewards in their group and scale them: A = (r - mean) / (std + eps).

    `rewards` is (P, G, F): P prompts, G completions each, F reward sources; None or NaN is "no opinion". `weights`
    (F,) defaults to ones. A group with equal rewards, or with fewer than two rated completions, gets exactly 0,
    and so does a completion for which every source abstains; such a completion is left out of every mean and std.

    `scale` (TRL's scale_rewards) divides by the std of the group, of the batch, or not at all. The aggregation
    `normalize_then_sum` normalises each source inside its group and the weighted sum over the batch, whatever
    `scale` says. `std` is the sample std (n - 1) or the population std (n).

    `trust` (P, F), with `normalize_then_sum`, multiplies what a source says about a group. The sum is then divided by
    the root of the sum of the squared weights, the spread that it has when all sources speak independently, instead of
    its spread in the batch: a source that speaks alone would otherwise have its full size whatever its weight and
    trust.

    Returns (P, G) float64. Source: DeepSeekMath (arXiv 2402.03300) section 4.1.2, Dr. GRPO (2503.20783) for `none`,
    GDPO (2601.05242) for `normalize_then_sum`. The worked example of the seed pseudo-code takes the variance
    .25 of [1, 0, ...] for its std; the population std is .5 and its advantages are +-1, not +-2.

    Raises:
        ValueError: the shape is not (P, G >= 2, F), a reward is infinite, or an option is unknown.
    """
    rewards_PGF = _checked(rewards)
    _check_options(scale, aggregation, std)
    weights_F = _checked_weights(weights, rewards_PGF.shape[2])
    ddof = 1 if std == "sample" else 0
    if aggregation == "normalize_then_sum":
        trust_PF = None if trust is None else np.asarray(trust, dtype=np.float64)
        return _normalize_then_sum(rewards_PGF, weights_F, ddof, eps, trust_PF)
    reward_PG = combined_rewards(rewards_PGF, weights_F)
    group = _moments(reward_PG, 1, ddof)
    centred = np.where(group.rated & ~group.flat, reward_PG - group.mean, 0.0)
    if scale == "none":
        return centred
    spread = group.std if scale == "group" else _moments(reward_PG.reshape(1, -1), 1, ddof).std
    return np.asarray(centred / (spread + eps), dtype=np.float64)


def combined_rewards(rewards_PGF: Float64Array, weights_F: Float64Array) -> Float64Array:
    """Weighted sum (P, G) over the sources that spoke; NaN where all of them abstain. Weights are not renormalised."""
    total = np.where(np.isnan(rewards_PGF), 0.0, rewards_PGF * weights_F).sum(axis=-1)
    return np.where(np.isnan(rewards_PGF).all(axis=-1), np.nan, total)


def _normalize_then_sum(
    rewards_PGF: Float64Array, weights_F: Float64Array, ddof: int, eps: float, trust_PF: Float64Array | None
) -> Float64Array:
    source = _moments(rewards_PGF, 1, ddof)
    speaks = source.rated & ~source.flat
    normalised_PGF = np.where(speaks, rewards_PGF - source.mean, 0.0) / (source.std + eps)
    if trust_PF is not None:
        trusted_PGF = normalised_PGF * weights_F * trust_PF[:, None, :]
        return np.asarray(trusted_PGF.sum(axis=-1) / np.sqrt((weights_F**2).sum()), dtype=np.float64)
    total_PG = (normalised_PGF * weights_F).sum(axis=-1)
    batch = _moments(np.where(source.rated.any(axis=-1), total_PG, np.nan).reshape(1, -1), 1, ddof)
    # The batch mean is 0 but for rounding, because every normalised source sums to 0 in its group. A group in which
    # no source says anything would inherit that residue, so it is set to exactly 0.
    live = batch.rated.reshape(total_PG.shape) & ~source.flat.all(axis=-1)
    return np.asarray(np.where(live, total_PG - batch.mean, 0.0) / (batch.std + eps), dtype=np.float64)


class _Moments(NamedTuple):
    rated: BoolArray  # shape of the values
    mean: Float64Array  # this and the rest: 1 along the axis
    std: Float64Array
    flat: BoolArray  # all rated values are equal, or none is rated


def _moments(values: Float64Array, axis: int, ddof: int) -> _Moments:
    """Mean and std over the values that are not NaN; 0 where there are too few."""
    rated = ~np.isnan(values)
    count = rated.sum(axis=axis, keepdims=True)
    mean = np.where(rated, values, 0.0).sum(axis=axis, keepdims=True) / np.maximum(count, 1)
    squares = np.where(rated, values - mean, 0.0) ** 2
    std = np.sqrt(squares.sum(axis=axis, keepdims=True) / np.maximum(count - ddof, 1))
    highest = np.where(rated, values, -np.inf).max(axis=axis, keepdims=True)
    lowest = np.where(rated, values, np.inf).min(axis=axis, keepdims=True)
    return _Moments(rated, mean, std, highest <= lowest)


def _checked(rewards: npt.ArrayLike) -> Float64Array:
    rewards_PGF = np.asarray(rewards, dtype=np.float64)
    if rewards_PGF.ndim != 3 or 0 in rewards_PGF.shape:
        raise ValueError(f"rewards must have the shape (prompts, completions, sources), not {rewards_PGF.shape}.")
    if rewards_PGF.shape[1] < 2:
        raise ValueError("A group needs at least 2 completions; one alone has nothing to be compared with.")
    if np.isinf(rewards_PGF).any():
        raise ValueError("A reward is infinite; use None for 'no opinion' and finite numbers otherwise.")
    return rewards_PGF


def _checked_weights(weights: Sequence[float] | None, sources: int) -> Float64Array:
    weights_F = np.ones(sources) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights_F.shape != (sources,) or not np.isfinite(weights_F).all():
        raise ValueError(f"weights must be {sources} finite numbers, one for each reward source.")
    return weights_F


def _check_options(scale: str, aggregation: str, std: str) -> None:
    for name, value, choices in (
        ("scale", scale, SCALES),
        ("aggregation", aggregation, AGGREGATIONS),
        ("std", std, STDS),
    ):
        if value not in choices:
            raise ValueError(f"{name} is {value!r}; choose one of {', '.join(choices)}.")
