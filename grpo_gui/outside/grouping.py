"""Puts the rows of a file of completions back into groups, and recomputes their advantages."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from grpo_gui.events import CompletionSample, GroupSample
from grpo_gui.grpo.advantages import AGGREGATIONS, SCALES, Float64Array, group_advantages
from grpo_gui.outside.pieces import Sample

AGREES = 1e-3
NAN = math.nan


def group_size_of(runs: Iterable[int]) -> int:
    """The number of generations from the lengths of runs of equal prompts: neighbours may share a prompt."""
    lengths = list(runs)
    common = math.gcd(*lengths) if lengths else 0
    return common if common > 1 else Counter(lengths).most_common(1)[0][0] if lengths else 0


def run_lengths(samples: Sequence[Sample]) -> list[int]:
    """The lengths of runs of neighbouring rows of the same group."""
    return [len(list(members)) for _, members in groupby(samples, key=_key)]


def _key(sample: Sample) -> tuple[str, str]:
    return (sample.group or "", sample.prompt)


def rebuild(samples: Sequence[Sample], size: int) -> list[tuple[Sample, ...]]:
    """Cut rows into groups of `size`; a run of equal prompts that `size` does not divide stays one group.

    Rows that name their group (verl's uid) are gathered by it wherever they stand.
    """
    if samples and all(sample.group is not None for sample in samples):
        named: dict[str | None, list[Sample]] = {}
        for sample in samples:
            named.setdefault(sample.group, []).append(sample)
        return [tuple(members) for members in named.values()]
    groups: list[tuple[Sample, ...]] = []
    for _, members in groupby(samples, key=_key):
        rows = tuple(members)
        step = size if size > 0 and len(rows) % size == 0 else len(rows)
        groups += [rows[start : start + step] for start in range(0, len(rows), step)]
    return groups


@dataclass(slots=True)
class AdvantageCheck:
    """How the advantages of the files compare with those that we compute from the rewards."""

    compared: int = 0
    worst: float = 0.0
    scale: str = ""
    aggregation: str = ""
    disagreeing: int = 0  # steps
    recomputed: int = 0  # completions whose file had none

    @property
    def sentence(self) -> str:
        """What was found, empty when there was nothing to compare."""
        if self.disagreeing:
            return (
                f"The advantages of {self.disagreeing} steps differ from those computed from the rewards; the "
                "file's are kept."
            )
        if self.compared:
            return (
                f"The advantages agree with those computed from the rewards (scale_rewards {self.scale}) to "
                f"{max(self.worst, 1e-9):.0e}."
            )
        if self.recomputed:
            return "The file holds no advantages; they were computed from the rewards."
        return ""


def with_advantages(
    groups: list[tuple[Sample, ...]], weights: Mapping[str, float], check: AdvantageCheck, eps: float
) -> list[tuple[Sample, ...]]:
    """Compare the advantages of one step with ours, or add ours where the file has none."""
    if not groups or len({len(group) for group in groups}) != 1 or len(groups[0]) < 2:
        return groups
    sources = [name for name, _ in groups[0][0].rewards]
    if any([name for name, _ in sample.rewards] != sources for group in groups for sample in group):
        return groups
    rewards = np.array([[_rewards(sample) for sample in group] for group in groups], dtype=np.float64)
    if rewards.ndim != 3 or not rewards.shape[2] or np.isinf(rewards).any():
        return groups
    factors = [weights.get(name, 1.0) for name in sources] or [1.0]
    known = [[sample.advantage for sample in group] for group in groups]
    if all(value is None for row in known for value in row):
        ours = group_advantages(rewards, weights=factors, eps=eps)
        check.recomputed += ours.size
        return [
            tuple(replace(sample, advantage=float(a)) for sample, a in zip(group, row, strict=True))
            for group, row in zip(groups, ours, strict=True)
        ]
    _compare(rewards, factors, np.array(known, dtype=np.float64), check)
    return groups


def _rewards(sample: Sample) -> list[float]:
    values = [value for _, value in sample.rewards] or [sample.reward]
    return [NAN if value is None else value for value in values]


def _compare(rewards: Float64Array, weights: list[float], known: Float64Array, check: AdvantageCheck) -> None:
    chosen = [(check.scale, check.aggregation)] if check.scale else [(s, a) for a in AGGREGATIONS for s in SCALES]
    best = math.inf
    for scale, aggregation in chosen:
        ours = group_advantages(rewards, weights=weights, scale=scale, aggregation=aggregation)
        difference = float(np.nanmax(np.abs(ours - known), initial=0.0))
        if difference < AGREES and difference < best:
            best, check.scale, check.aggregation = difference, scale, aggregation
    if math.isfinite(best):
        check.compared += known.size
        check.worst = max(check.worst, best)
    else:
        check.disagreeing += 1


def group_sample(index: int, group: Sequence[Sample], task: str, weights: Mapping[str, float]) -> GroupSample:
    """A group in the form of the store. What the file does not say is NaN, None or empty."""
    return GroupSample(
        index=index,
        task=task,
        prompt=group[0].prompt,
        answer=group[0].answer,
        prompt_token_ids=(),
        completions=tuple(completion_sample(i, sample, weights) for i, sample in enumerate(group)),
    )


def completion_sample(index: int, sample: Sample, weights: Mapping[str, float]) -> CompletionSample:
    """A completion in the form of the store, without values of its tokens."""
    return CompletionSample(
        index=index,
        text=sample.text,
        token_ids=sample.token_ids,
        tokens=(),
        truncated=sample.truncated,
        correct=None,
        reward=_total(sample, weights),
        rewards=sample.rewards,
        advantage=NAN if sample.advantage is None else sample.advantage,
        old_logps=b"",
        logps=b"",
        ref_logps=b"",
        entropy=b"",
        clipped=b"",
        ratio_min=NAN,
        ratio_max=NAN,
        clip_fraction_low=NAN,
        clip_fraction_high=NAN,
        kl_mean=None,
        kl_max=None,
    )


def _total(sample: Sample, weights: Mapping[str, float]) -> float | None:
    """The file's reward, else the weighted sum of the functions that spoke."""
    if sample.reward is not None:
        return sample.reward
    spoken = [
        weights.get(name, 1.0) * value for name, value in sample.rewards if value is not None and not math.isnan(value)
    ]
    return sum(spoken) if spoken else None
