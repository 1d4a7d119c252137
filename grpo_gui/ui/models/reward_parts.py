"""How the reward sources of a completion add up to its reward, and what its group looked like."""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from grpo_gui.store.records import GroupRecord
from grpo_gui.training.config import TrainConfig


@dataclass(frozen=True, slots=True)
class RewardPart:
    """One reward source of one completion. `adds` is None where the source had no opinion."""

    source: str
    value: float | None  # as the reward function gave it
    weight: float
    adds: float | None  # what it adds to the sum that becomes the advantage


@dataclass(frozen=True, slots=True)
class GroupNumbers:
    """Mean and standard deviation of the rewards of a group, over the completions that have one."""

    mean: float | None
    std: float | None


def reward_parts(group: GroupRecord, index: int, config: TrainConfig) -> tuple[RewardPart, ...]:
    """Give the parts of the completion at position `index`, in the order of its sources.

    With `sum_then_normalize` a source adds weight x value; with `normalize_then_sum` it adds weight x
    (value - mean) / (std + eps), mean and std over its own values in the group (GDPO, arXiv 2601.05242).
    A source without an opinion adds nothing, and so does one that is alone or equal in its group.
    """
    weights = {spec.name: spec.weight for spec in config.rewards}
    return tuple(
        RewardPart(source, value, weights.get(source, 1.0), _adds(group, source, value, weights, config))
        for source, value in group.completions[index].rewards
    )


def group_numbers(group: GroupRecord, *, std: str = "sample") -> GroupNumbers:
    """Give mean and std (`sample` or `population`) of the group's rewards; None without any reward."""
    values = _numbers(sample.reward for sample in group.completions)
    if not values:
        return GroupNumbers(None, None)
    return GroupNumbers(statistics.fmean(values), _std(values, std))


def aggregation_sentence(config: TrainConfig) -> str:
    """Say in a few words how rewards become advantages in this run."""
    scale = {
        "group": "normalised in the group",
        "batch": "centred in the group, scaled by the batch",
        "none": "centred in the group, not scaled",
    }.get(config.scale_rewards, config.scale_rewards)
    if config.multi_objective_aggregation == "normalize_then_sum":
        return "each source normalised in the group, then summed"
    return f"sum, then {scale}"


def _adds(
    group: GroupRecord, source: str, value: float | None, weights: dict[str, float], config: TrainConfig
) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    weight = weights.get(source, 1.0)
    if config.multi_objective_aggregation != "normalize_then_sum":
        return weight * value
    values = _numbers(dict(sample.rewards).get(source) for sample in group.completions)
    if max(values) == min(values):
        return 0.0
    spread = _std(values, config.advantage_std)
    return weight * (value - statistics.fmean(values)) / (spread + config.advantage_eps)


def _std(values: list[float], kind: str) -> float:
    if kind == "population":
        return statistics.pstdev(values)
    return statistics.stdev(values) if len(values) > 1 else 0.0


def _numbers(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]
