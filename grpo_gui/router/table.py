"""The table policy: one weight per class and model, learned from groups of rated answers to the same query."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.growing import grown, shaped
from grpo_gui.router.rewards import FLAT_SPREAD
from grpo_gui.router.sampler import Int64Array, sequential_probabilities, with_floor

STD_FLOOR = 0.1  # of rewards: a group that differs by less moves the weights less, not as much as any other
RATIO_CAP = 2.0  # of the policy's probability to the logged propensity
WEIGHT_SCALE = 8.0  # weight per unit of reward, for the pull: .1 better is a weight .8 higher
BASELINE_DISCOUNT = 0.98  # of the running baseline of a class, for ratings that come alone


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """What a group of ratings did: its advantages and ratios in the order of the models asked; no signal: all 0."""

    advantages: tuple[float, ...]
    ratios: tuple[float, ...]
    had_signal: bool


@dataclass(frozen=True, slots=True)
class RatedGroup:
    """The rated answers to one query, as the table learns from them.

    `candidates` are the models that could have been asked, `asked` the places among them of those that were asked, in
    the order of the draw, with their logged `propensities`; `rated` the places in `asked` that have a reward.
    """

    candidates: Int64Array
    asked: tuple[int, ...]
    propensities: tuple[float, ...]
    rated: tuple[int, ...]
    rewards: tuple[float, ...]


class TableWeights:
    """The weights and the rule that moves them; indices of models are those of `ArmStatistics`."""

    def __init__(self, config: RouterConfig) -> None:
        self._config = config
        self._rows: dict[str, int] = {}
        self._weights: Float64Array = np.zeros((1, 0))  # row 0: over all classes, where a new class begins
        self._baselines: dict[str, tuple[float, float]] = {}  # class: (ratings, sum of rewards), both discounted

    def row(self, query_class: str, models: Int64Array) -> Float64Array:
        """The weights of the models; a class that has never moved has those over all classes."""
        self._make_room(int(models.max()) + 1)
        return np.asarray(self._weights[self._rows.get(query_class, 0), models])

    def probabilities(self, query_class: str, models: Int64Array) -> Float64Array:
        """The softmax of the weights with the floor; at temperature 0 the best share everything equally."""
        return self.softmax(self.row(query_class, models))

    def softmax(self, weights: Float64Array) -> Float64Array:
        """Probabilities of weights under the config's temperature and floor."""
        temperature = self._config.temperature
        highest = weights.max()
        if temperature == 0:
            best = weights >= highest - 1e-12
            return np.asarray(best / best.sum())
        exponentials = np.exp(np.maximum((weights - highest) / temperature, -700.0))
        return with_floor(exponentials / exponentials.sum(), self._config.probability_floor)

    def learn(self, query_class: str, group: RatedGroup, utilities: Float64Array, pooled: Float64Array) -> GroupUpdate:
        """Move the weights of the class, and those over all classes, by one group.

        `utilities` and `pooled` are the expected rewards of the candidates in the class and over all classes, toward
        which the weights are pulled. A group without signal moves nothing.
        """
        self._make_room(int(group.candidates.max()) + 1)
        advantages = self._advantages(query_class, group.rewards)
        if advantages is None:
            return GroupUpdate((0.0,) * len(group.rewards), (1.0,) * len(group.rewards), False)
        if query_class not in self._rows:
            self._rows[query_class] = len(self._rows) + 1
            self._weights = grown(self._weights, (len(self._rows) + 1, self._weights.shape[1]))
            self._weights[self._rows[query_class]] = self._weights[0]
        ratios = self._step(self._rows[query_class], group, advantages, utilities)
        self._step(0, group, advantages, pooled)
        return GroupUpdate(advantages, ratios, True)

    def snapshot(self) -> dict[str, object]:
        """Everything as plain values, from which `restore` makes it again exactly."""
        return {
            "classes": list(self._rows),
            "weights": self._weights[: len(self._rows) + 1].tolist(),
            "baselines": {name: list(values) for name, values in self._baselines.items()},
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take over a snapshot.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        weights = values["weights"]
        self._rows = {str(name): index + 1 for index, name in enumerate(values["classes"])}
        self._weights = shaped(weights, (len(self._rows) + 1, len(weights[0])))
        self._baselines = {str(name): (float(n), float(total)) for name, (n, total) in values["baselines"].items()}

    def _step(
        self, row: int, group: RatedGroup, advantages: Sequence[float], utilities: Float64Array
    ) -> tuple[float, ...]:
        config = self._config
        weights = self._weights[row, group.candidates]
        probabilities = self.softmax(weights)
        sequential = sequential_probabilities(probabilities, group.asked)
        ratios = tuple(min(sequential[place] / group.propensities[place], RATIO_CAP) for place in group.rated)
        gradient = np.zeros(len(weights))
        total = 0.0
        for place, ratio, advantage in zip(group.rated, ratios, advantages, strict=True):
            gradient[group.asked[place]] += ratio * advantage
            total += ratio * advantage
        gradient -= total * probabilities  # d log softmax: 1 at the chosen model, less all probabilities
        weights = weights + config.learning_rate * gradient
        target = np.clip(WEIGHT_SCALE * (utilities - utilities.mean()), -config.logit_cap, config.logit_cap)
        weights += config.pull * (target - weights)
        self._weights[row, group.candidates] = np.clip(weights, -config.logit_cap, config.logit_cap)
        return ratios

    def _advantages(self, query_class: str, rewards: Sequence[float]) -> tuple[float, ...] | None:
        """(reward - mean) / std of the group, a rating alone against the class's running mean; None: no signal."""
        baseline = self._baseline_with(query_class, rewards)
        if len(rewards) == 1:
            difference = 0.0 if baseline is None else rewards[0] - baseline
            return None if abs(difference) <= FLAT_SPREAD else (difference,)
        if max(rewards) - min(rewards) <= FLAT_SPREAD:
            return None
        mean = math.fsum(rewards) / len(rewards)
        variance = math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards)
        std = max(math.sqrt(variance), STD_FLOOR)
        return tuple((reward - mean) / std for reward in rewards)

    def _baseline_with(self, query_class: str, rewards: Sequence[float]) -> float | None:
        """The running mean before these rewards (None: there was none), which are then added to it."""
        count, total = self._baselines.get(query_class, (0.0, 0.0))
        before = total / count if count else None
        for reward in rewards:
            count, total = BASELINE_DISCOUNT * count + 1, BASELINE_DISCOUNT * total + reward
        self._baselines[query_class] = (count, total)
        return before

    def _make_room(self, models: int) -> None:
        self._weights = grown(self._weights, (self._weights.shape[0], models))
