"""The policies that the router is measured against: plain bandits with a table per class."""

import math
import random
from typing import Protocol

import numpy as np

from grpo_gui.grpo.advantages import Float64Array

EPSILON = 0.1
UCB_WIDTH = 0.1  # c of mean + sqrt(c * ln t / n); the textbook's 2 explores far too much for rewards in [0, 1]
LEAST_BETA = 1e-3  # rewards less cost and latency may sum to less than 0, where a Beta distribution has none
BASELINES = ("random", "best_single", "epsilon_greedy", "ucb1", "thompson")


class Baseline(Protocol):
    """A bandit over models; classes and models are numbers."""

    def choose(self, query_class: int, /) -> int:
        """The model to ask."""

    def learn(self, query_class: int, model: int, reward: float) -> None:
        """Take the reward of a choice."""

    def best(self, query_class: int, /) -> int:
        """The model that it thinks best."""


class _Means:
    """Counts and sums per class and model."""

    def __init__(self, classes: int, models: int, seed: int) -> None:
        self.counts: Float64Array = np.zeros((classes, models))
        self.sums: Float64Array = np.zeros((classes, models))
        self.models = models
        self.random = random.Random(seed)

    def learn(self, query_class: int, model: int, reward: float) -> None:
        """Add a reward."""
        self.counts[query_class, model] += 1
        self.sums[query_class, model] += reward

    def best(self, query_class: int) -> int:
        """The model with the highest mean, untried ones last."""
        counts = self.counts[query_class]
        return int((self.sums[query_class] / np.maximum(counts, 1) - (counts == 0)).argmax())


class Random(_Means):
    """Any model, each as likely."""

    def choose(self, _query_class: int, /) -> int:
        """The model to ask."""
        return self.random.randrange(self.models)


class BestSingle(_Means):
    """One model for everything: the best over all queries, known in hindsight."""

    def __init__(self, classes: int, models: int, seed: int, best: int) -> None:
        super().__init__(classes, models, seed)
        self._best = best

    def choose(self, _query_class: int, /) -> int:
        """The model to ask."""
        return self._best

    def best(self, _query_class: int, /) -> int:
        """The same."""
        return self._best


class EpsilonGreedy(_Means):
    """Each model once, then the best mean, and one time in ten any model."""

    def choose(self, query_class: int) -> int:
        """The model to ask."""
        untried = np.flatnonzero(self.counts[query_class] == 0)
        if len(untried):
            return int(untried[self.random.randrange(len(untried))])
        if self.random.random() < EPSILON:
            return self.random.randrange(self.models)
        return self.best(query_class)


class Ucb1(_Means):
    """The highest mean + sqrt(c ln t / n)."""

    def __init__(self, classes: int, models: int, seed: int, width: float = UCB_WIDTH) -> None:
        super().__init__(classes, models, seed)
        self._width = width

    def choose(self, query_class: int) -> int:
        """The model to ask."""
        counts = self.counts[query_class]
        untried = np.flatnonzero(counts == 0)
        if len(untried):
            return int(untried[self.random.randrange(len(untried))])
        bonus = np.sqrt(self._width * math.log(counts.sum()) / counts)
        return int((self.sums[query_class] / counts + bonus).argmax())


class Thompson(_Means):
    """The highest of one draw per model from Beta(1 + sum, 1 + n - sum)."""

    def choose(self, query_class: int) -> int:
        """The model to ask."""
        sums, counts = self.sums[query_class], self.counts[query_class]
        draws = [
            self.random.betavariate(max(1 + s, LEAST_BETA), max(1 + n - s, LEAST_BETA))
            for s, n in zip(sums.tolist(), counts.tolist(), strict=True)
        ]
        return int(np.argmax(draws))


def make_baseline(name: str, rewards: Float64Array, classes: int, seed: int) -> Baseline:
    """A baseline by its name; `rewards` (N, M) are needed for `best_single` only."""
    models = rewards.shape[1]
    match name:
        case "random":
            return Random(classes, models, seed)
        case "best_single":
            return BestSingle(classes, models, seed, int(rewards.mean(0).argmax()))
        case "epsilon_greedy":
            return EpsilonGreedy(classes, models, seed)
        case "ucb1":
            return Ucb1(classes, models, seed)
        case "thompson":
            return Thompson(classes, models, seed)
        case _:
            raise ValueError(f"There is no baseline {name!r}; choose one of {', '.join(BASELINES)}.")
