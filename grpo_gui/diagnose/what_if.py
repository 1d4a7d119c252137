"""What would other settings have made of the same samples: recomputed from what is stored, without training."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from grpo_gui.diagnose.evidence import StepGroups
from grpo_gui.diagnose.history import Float64Array, Int64Array
from grpo_gui.diagnose.sampled import SampledCompletion, SampledGroup
from grpo_gui.diagnose.statistics import ranks
from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import combined_rewards, group_advantages
from grpo_gui.grpo.rollout_metrics import DEAD_BELOW

DRAWS = 20  # random smaller groups that are averaged


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked for. None and empty: as the run had it.

    `group_size` G' draws G' of the G completions of each prompt; `weights` are by source; `by_rank` replaces each
    source by its rank inside the group (unit variance without ties).
    """

    group_size: int | None = None
    scale_rewards: str = "group"
    aggregation: str = "sum_then_normalize"
    advantage_std: str = "sample"
    advantage_eps: float = 1e-4
    epsilon: float = 0.2
    epsilon_high: float | None = None
    weights: tuple[tuple[str, float], ...] = ()
    by_rank: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Curves recomputed from stored samples, one value a step. They are no other training: the samples are the same.

    The clip fractions are those of the last inner update, so that they stay below the ones that a run reports for all
    of its updates, and the log-probabilities are those that the real updates led to.
    """

    steps: Int64Array
    reward: Float64Array
    reward_std: Float64Array
    dead_groups: Float64Array
    advantage_std: Float64Array
    clip_low: Float64Array  # NaN: log-probabilities were not recorded
    clip_high: Float64Array


def what_if(steps: Iterable[StepGroups], settings: Settings) -> Recomputed:
    """Recompute the curves of stored steps under other settings.

    Raises:
        BadInputError: the groups are smaller than `group_size`, or it is below 2.
    """
    generator = np.random.default_rng(settings.seed)
    rows = [(step, *_one_step(groups, settings, generator)) for step, groups in steps if groups]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 7)
    return Recomputed(table[:, 0].astype(np.int64), *(table[:, place] for place in range(1, 7)))


def _one_step(
    groups: Sequence[SampledGroup], settings: Settings, generator: np.random.Generator
) -> tuple[float, float, float, float, float, float]:
    size = min(len(group.completions) for group in groups)
    wanted = settings.group_size or size
    _check(wanted, size)
    sources = [name for name, _ in groups[0].completions[0].rewards]
    weights = np.array([dict(settings.weights).get(name, 1.0) for name in sources])
    draws = DRAWS if wanted < size else 1
    results = [_draw(groups, wanted, size, weights, settings, generator) for _ in range(draws)]
    table = np.array(results)
    known = ~np.isnan(table)
    means = np.where(known, table, 0.0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)
    return tuple(means.tolist())


def _check(wanted: int, size: int) -> None:
    if wanted < 2:
        raise BadInputError("A group needs at least 2 answers; choose a group size of 2 or more.")
    if wanted > size:
        raise BadInputError(
            f"The stored groups hold {size} answers, so a group size of {wanted} cannot be recomputed; choose at most "
            f"{size}."
        )


def _draw(
    groups: Sequence[SampledGroup],
    wanted: int,
    size: int,
    weights: Float64Array,
    settings: Settings,
    generator: np.random.Generator,
) -> tuple[float, float, float, float, float, float]:
    chosen = [[group.completions[place] for place in _places(wanted, size, generator)] for group in groups]
    rewards_PGF = np.array([[_values(one, len(weights)) for one in group] for group in chosen])
    if settings.by_rank:
        rewards_PGF = _by_rank(rewards_PGF)
    advantages = group_advantages(
        rewards_PGF,
        weights=weights.tolist(),
        scale=settings.scale_rewards,
        aggregation=settings.aggregation,
        std=settings.advantage_std,
        eps=settings.advantage_eps,
    )
    total = combined_rewards(rewards_PGF, weights)
    rated = total[~np.isnan(total)]
    low, high = _clipped(chosen, advantages, settings)
    return (
        float(rated.mean()) if rated.size else np.nan,
        float(rated.std(ddof=1)) if rated.size > 1 else np.nan,
        float((np.abs(advantages).max(axis=1) < DEAD_BELOW).mean()),
        float(advantages.std(ddof=1)),
        low,
        high,
    )


def _places(wanted: int, size: int, generator: np.random.Generator) -> list[int]:
    return sorted(generator.choice(size, wanted, replace=False).tolist()) if wanted < size else list(range(size))


def _values(one: SampledCompletion, count: int) -> list[float]:
    values = [np.nan if value is None else value for _, value in one.rewards]
    return values if len(values) == count else [np.nan] * count


def _by_rank(rewards_PGF: Float64Array) -> Float64Array:
    """Ranks inside the group with unit variance: sqrt(3 (G-1) / (G+1)) (2 rank - G - 1) / (G - 1), G those rated."""
    rank = np.moveaxis(ranks(np.moveaxis(rewards_PGF, 2, 1)), 1, 2)
    count = np.maximum((~np.isnan(rewards_PGF)).sum(axis=1, keepdims=True), 2)
    scale: Float64Array = np.sqrt(3 * (count - 1) / (count + 1)) / (count - 1)
    return np.asarray(scale * (2 * rank - count - 1))


def _clipped(
    chosen: Sequence[Sequence[SampledCompletion]], advantages: Float64Array, settings: Settings
) -> tuple[float, float]:
    """Shares of tokens below 1 - epsilon with A < 0, and above 1 + epsilon_high with A > 0."""
    completions = [one for group in chosen for one in group]
    logps = np.frombuffer(b"".join(one.logps for one in completions), dtype="<f4")
    old = np.frombuffer(b"".join(one.old_logps for one in completions), dtype="<f4")
    lengths = [len(one.logps) // 4 for one in completions]
    if not logps.size or logps.size != old.size:
        return np.nan, np.nan
    ratio = np.exp(np.clip(logps.astype(np.float64) - old, -20.0, 20.0))
    advantage = np.repeat(advantages.reshape(-1), lengths)
    high = settings.epsilon if settings.epsilon_high is None else settings.epsilon_high
    return (
        float(((ratio < 1 - settings.epsilon) & (advantage < 0)).mean()),
        float(((ratio > 1 + high) & (advantage > 0)).mean()),
    )
