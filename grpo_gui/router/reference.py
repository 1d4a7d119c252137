"""The router policy exactly as it was first written, faults included: the mode to compare with and to reproduce.

Sums are explicit loops from left to right, because `sum()` of floats is compensated from Python 3.12 on: the
numbers are bit for bit those of the original under 3.11, on every Python.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from grpo_gui.router.context import RoutingContext, derive_query_class

FLAT_SPREAD = 1e-9  # a group whose rewards differ by no more than this has no true variance

UpdateResult = dict[str, bool | int | str]


def _class_weights() -> defaultdict[str, float]:
    return defaultdict(float)


def _all_weights() -> defaultdict[str, defaultdict[str, float]]:
    return defaultdict(_class_weights)


def _counts() -> defaultdict[str, int]:
    return defaultdict(int)


@dataclass
class GRPOSample:
    """One rated choice of a model."""

    query_class: str
    model: str
    reward: float


@dataclass
class GRPOState:
    """What the policy has learned: `weights[model][query_class]`, samples seen per class, updates made."""

    weights: defaultdict[str, defaultdict[str, float]] = field(default_factory=_all_weights)
    sample_counts: defaultdict[str, int] = field(default_factory=_counts)
    total_updates: int = 0


class GRPORouterPolicy:
    """Weights per model and query class, moved by (reward - mean) / std of everything buffered for the class.

    `group_size` is kept and never read, as in the original. There is no seed: routes are drawn from the `random`
    module. Known faults are kept on purpose; `flat_groups` names the classes in which one of them struck.
    """

    def __init__(
        self, *, learning_rate: float = 0.1, min_samples: int = 5, group_size: int = 4, temperature: float = 1.0
    ) -> None:
        self._learning_rate = learning_rate
        self._min_samples = min_samples
        self._group_size = group_size
        self._temperature = temperature
        self._state = GRPOState()
        self._sample_buffer: list[GRPOSample] = []
        self._flat_groups: tuple[str, ...] = ()

    @property
    def state(self) -> GRPOState:
        """The live state, not a copy."""
        return self._state

    @property
    def flat_groups(self) -> tuple[str, ...]:
        """Classes of the newest update whose rewards had no true variance, so that residue may have moved weights."""
        return self._flat_groups

    def route(self, context: RoutingContext, models: list[str]) -> str:
        """Choose a model: uniformly while the class has fewer than `min_samples` samples, then by softmax.

        Raises:
            ValueError: `models` is empty.
            ZeroDivisionError: the temperature is 0 and the class has its samples.
        """
        if not models:
            raise ValueError("No models available for routing")
        query_class = derive_query_class(context)
        if self._state.sample_counts.get(query_class, 0) < self._min_samples:
            return random.choice(models)
        drawn = random.random()
        cumulative = 0.0
        for model, probability in zip(models, self._probabilities(query_class, models), strict=True):
            cumulative += probability
            if drawn <= cumulative:
                return model
        return models[-1]

    def add_sample(self, query_class: str, model: str, reward: float) -> None:
        """Buffer a rated choice; the class's count rises at once. The reward is not checked."""
        self._sample_buffer.append(GRPOSample(query_class, model, reward))
        self._state.sample_counts[query_class] = self._state.sample_counts.get(query_class, 0) + 1

    def update(self) -> UpdateResult:
        """Learn from the buffer, one group per class, and empty it; groups of one are counted and skipped."""
        if not self._sample_buffer:
            return {"updated": False, "reason": "no samples"}
        groups: dict[str, list[GRPOSample]] = {}
        for sample in self._sample_buffer:
            groups.setdefault(sample.query_class, []).append(sample)
        applied = 0
        flat: list[str] = []
        for query_class, samples in groups.items():
            if len(samples) < 2:
                continue
            applied += self._learn(query_class, samples)
            rewards = [sample.reward for sample in samples]
            if max(rewards) - min(rewards) <= FLAT_SPREAD:
                flat.append(query_class)
        self._flat_groups = tuple(flat)
        self._state.total_updates += 1
        processed = len(self._sample_buffer)
        self._sample_buffer.clear()
        return {
            "updated": True,
            "samples_processed": processed,
            "groups": len(groups),
            "updates_applied": applied,
            "total_updates": self._state.total_updates,
        }

    def reset(self) -> None:
        """Forget everything, the buffer too. The state is a new object."""
        self._state = GRPOState()
        self._sample_buffer.clear()
        self._flat_groups = ()

    def _probabilities(self, query_class: str, models: list[str]) -> list[float]:
        scores = [self._weight(model, query_class) / self._temperature for model in models]
        highest = max(scores)
        exponentials = [math.exp(score - highest) for score in scores]
        total = _left_to_right_sum(exponentials)
        return [value / total for value in exponentials]

    def _weight(self, model: str, query_class: str) -> float:
        """Read a weight without making the entry that the nested defaults would make."""
        weights = self._state.weights.get(model)
        return 0.0 if weights is None else weights.get(query_class, 0.0)

    def _learn(self, query_class: str, samples: list[GRPOSample]) -> int:
        mean = _left_to_right_sum(sample.reward for sample in samples) / len(samples)
        variance = _left_to_right_sum((sample.reward - mean) ** 2 for sample in samples) / len(samples)
        std = math.sqrt(variance) if variance > 0 else 1.0
        for sample in samples:
            self._state.weights[sample.model][query_class] += self._learning_rate * ((sample.reward - mean) / std)
        return len(samples)


def _left_to_right_sum(values: Iterable[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total
