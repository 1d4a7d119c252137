"""What the ratings say of each model in each class: shrunk, discounted means, with cost and latency beside them."""

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.drift import DriftAlarm, DriftDetector, DriftLevel
from grpo_gui.router.growing import grown, shaped
from grpo_gui.router.rewards import Outcome, TradeOff
from grpo_gui.router.sampler import Int64Array

POOLED_STRENGTH = 4.0  # ratings that the mean of all models is worth beside a model's own
CLASS_STRENGTH = 25.0  # ratings that "this class is as hard as the others" is worth
POOLED_DISCOUNT = 0.9995  # what a rating leaves of the older ones in the means over all classes
_QUALITY_RANGE = (0.02, 0.98)  # of a prior: neither certain failure nor certain success

# What an alarm in a class leaves of older ratings: of the model there, of the class, of the model elsewhere, of all.
_KEPT_OF_CELL, _KEPT_OF_CLASS, _KEPT_OF_MODEL, _KEPT_OF_REST = 0.0, 0.3, 0.3, 0.7
_KEPT_OVERALL = 0.02  # when a model changed over all classes

_RATINGS, _QUALITY, _COST, _LATENCY = range(4)


@dataclass(frozen=True, slots=True)
class Beliefs:
    """What is believed of some models in one class; every field has one entry a model.

    `quality` is the posterior mean, `strength` the ratings that it is worth (prior included), `cost` and `latency_s`
    are means, `ratings` counts the real ratings of the class, forgotten ones too.
    """

    quality: Float64Array
    strength: Float64Array
    cost: Float64Array
    latency_s: Float64Array
    ratings: Int64Array

    def utility(self, trade_off: TradeOff) -> Float64Array:
        """The expected reward under the trade-off."""
        return self.quality - trade_off.cost_weight * self.cost - trade_off.latency_weight * self.latency_s

    def deviation(self) -> Float64Array:
        """The posterior standard deviation of the quality, that of a Beta distribution."""
        return np.sqrt(self.quality * (1 - self.quality) / (self.strength + 1))


class ArmStatistics:
    """Discounted sums per class and model.

    The belief about a model in a class is shrunk toward the model's own level plus the class's difficulty, so that a
    model rarely asked in a hard class is not taken for a good one there.
    """

    def __init__(self, prior_strength: float, discount: float) -> None:
        self._prior_strength = prior_strength
        self._discount = discount
        self._classes: dict[str, int] = {}
        self._models: dict[str, int] = {}
        self._cells: Float64Array = np.zeros((4, 0, 0))  # (ratings, quality, cost, latency) x class x model
        self._levels: Float64Array = np.zeros((4, 0))  # the same over all classes, quality less the class's offset
        self._difficulty: Float64Array = np.zeros((2, 0))  # (ratings, quality less the model's level) x class
        self._counts: Float64Array = np.zeros((0, 0))  # real ratings, class x model
        self._drift = DriftDetector()
        self._make_room()

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes with ratings, in the order in which they came."""
        return tuple(self._classes)

    @property
    def models(self) -> tuple[str, ...]:
        """The known models, in the order in which they came."""
        return tuple(self._models)

    @property
    def known(self) -> Container[str]:
        """The known models, to look a name up."""
        return self._models.keys()

    def introduce(self, models: Iterable[str]) -> None:
        """Make models known, in this order."""
        for model in models:
            self._models.setdefault(model, len(self._models) + 1)
        self._make_room()

    def places(self, models: tuple[str, ...]) -> Int64Array:
        """The columns of models; a model that is not known has column 0, which never gets a rating."""
        return np.array([self._models.get(model, 0) for model in models], dtype=np.int64)

    def rename(self, old: str, new: str) -> None:
        """Give a model's history to another name."""
        self._models = {new if model == old else model: index for model, index in self._models.items()}

    def beliefs(self, query_class: str, models: Int64Array) -> Beliefs:
        """What is believed of the models in the class; a class without ratings has the pooled beliefs."""
        index = self._classes.get(query_class)
        level, strength = self._prior(models)
        cost, latency = self._pooled_mean(_COST, models), self._pooled_mean(_LATENCY, models)
        if index is None:
            quality = np.clip(level, *_QUALITY_RANGE)
            return Beliefs(quality, strength, cost, latency, np.zeros(len(models), dtype=np.int64))
        cells = self._cells[:, index][:, models]
        prior = np.clip(level + self._offset(index), *_QUALITY_RANGE)
        total = cells[_RATINGS] + strength
        return Beliefs(
            (cells[_QUALITY] + strength * prior) / total,
            total,
            (cells[_COST] + strength * cost) / total,
            (cells[_LATENCY] + strength * latency) / total,
            self._counts[index, models].astype(np.int64),
        )

    def add(self, query_class: str, model: str, outcome: Outcome) -> DriftAlarm | None:
        """Take a rating; on a drift alarm most of what the alarm concerns is forgotten."""
        self.introduce((model,))
        column = self.places((model,))
        row = self._classes.setdefault(query_class, len(self._classes))
        self._make_room()
        expected = float(self.beliefs(query_class, column).quality[0])
        level, offset = float(self._prior(column)[0][0]), self._offset(row)
        index = int(column[0])
        self._cells[:, row] *= self._discount
        self._levels *= POOLED_DISCOUNT
        self._cells[:, row, index] += (1.0, outcome.quality, outcome.cost, outcome.latency_s)
        self._levels[:, index] += (1.0, outcome.quality - offset, outcome.cost, outcome.latency_s)
        self._difficulty[:, row] += (1.0, outcome.quality - level)
        self._counts[row, index] += 1
        alarm = self._drift.add(row, index, outcome.quality - expected)
        if alarm is None:
            return None
        overall, better = alarm
        self._forget(None if overall else row, index)
        return DriftAlarm(model, None if overall else query_class, better)

    def drift_level(self) -> DriftLevel | None:
        """How near the drift alarm is; None before the first rating."""
        found = self._drift.highest()
        if found is None or not self._classes:
            return None
        value, alarm, model, row = found
        return DriftLevel(value, alarm, self.models[model - 1], None if row is None else self.classes[row])

    def snapshot(self) -> dict[str, object]:
        """Everything as plain values, from which `restore` makes it again exactly."""
        classes, models = len(self._classes), len(self._models) + 1
        return {
            "classes": list(self._classes),
            "models": list(self._models),
            "cells": self._cells[:, :classes, :models].tolist(),
            "levels": self._levels[:, :models].tolist(),
            "difficulty": self._difficulty[:, :classes].tolist(),
            "ratings": self._counts[:classes, :models].tolist(),
            "drift": self._drift.snapshot(classes, models),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take over a snapshot.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        self._classes = {str(name): index for index, name in enumerate(values["classes"])}
        self._models = {str(name): index + 1 for index, name in enumerate(values["models"])}
        self._make_room()
        classes, models = len(self._classes), len(self._models) + 1
        self._cells[:, :classes, :models] = shaped(values["cells"], (4, classes, models))
        self._levels[:, :models] = shaped(values["levels"], (4, models))
        self._difficulty[:, :classes] = shaped(values["difficulty"], (2, classes))
        self._counts[:classes, :models] = shaped(values["ratings"], (classes, models))
        self._drift.restore(values["drift"], classes, models)

    def _make_room(self) -> None:
        classes, models = len(self._classes), len(self._models) + 1
        if self._counts.shape[0] >= classes and self._counts.shape[1] >= models:
            return
        self._cells = grown(self._cells, (4, classes, models))
        self._levels = grown(self._levels, (4, models))
        self._difficulty = grown(self._difficulty, (2, classes))
        self._counts = grown(self._counts, (classes, models))
        self._drift.resize(classes, models)

    def _prior(self, models: Int64Array) -> tuple[Float64Array, Float64Array]:
        """Each model's level over all classes, and what it is worth as a prior of one class, in ratings."""
        ratings, quality = self._levels[_RATINGS], self._levels[_QUALITY]
        everything = (_total(quality) + 1.0) / (_total(ratings) + 2.0)
        own = ratings[models] + POOLED_STRENGTH
        level = (quality[models] + POOLED_STRENGTH * everything) / own
        # A level known from n ratings and classes that differ as if m ratings told of them: the variances add.
        return level, self._prior_strength * own / (self._prior_strength + own)

    def _offset(self, row: int) -> float:
        return float(self._difficulty[1, row] / (self._difficulty[0, row] + CLASS_STRENGTH))

    def _pooled_mean(self, kind: int, models: Int64Array) -> Float64Array:
        ratings = self._levels[_RATINGS]
        total = _total(ratings)
        everything = _total(self._levels[kind]) / total if total else 0.0
        return np.asarray((self._levels[kind, models] + everything) / (ratings[models] + 1.0))

    def _forget(self, row: int | None, model: int) -> None:
        if row is None:
            for sums in (self._cells, self._levels, self._difficulty):
                sums *= _KEPT_OVERALL
            return
        for sums in (self._cells, self._levels, self._difficulty):
            sums *= _KEPT_OF_REST
        self._cells[:, row] *= _KEPT_OF_CLASS
        self._cells[:, :, model] *= _KEPT_OF_MODEL
        self._cells[:, row, model] *= _KEPT_OF_CELL
        self._levels[:, model] *= _KEPT_OF_MODEL
        self._difficulty[:, row] *= _KEPT_OF_CLASS


def _total(values: Float64Array) -> float:
    """The exact sum, rounded once: the same however many empty columns the array has."""
    return math.fsum(values.tolist())
