"""The drift alarm: a two-sided CUSUM of how far ratings lie from what was expected of a model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.growing import grown, shaped

CLASS_SLACK = 0.1  # a rating counts for the alarm by how much it misses the expectation beyond this
CLASS_ALARM = 8.0
MODEL_SLACK = 0.05  # over all classes of a model there is more data, so less slack and a higher alarm
MODEL_ALARM = 16.0


@dataclass(frozen=True, slots=True)
class DriftAlarm:
    """A model became better or worse: in one class, or over all (`query_class` None)."""

    model: str
    query_class: str | None
    better: bool


@dataclass(frozen=True, slots=True)
class DriftLevel:
    """How near the alarm is: `value` of `alarm`, at the class (None: all classes) and model where it is nearest."""

    value: float
    alarm: float
    model: str
    query_class: str | None


class DriftDetector:
    """CUSUM statistics per class and model, and per model; indices are those of `ArmStatistics`."""

    def __init__(self) -> None:
        self._classes: Float64Array = np.zeros((2, 0, 0))  # (worse, better) x class x model
        self._models: Float64Array = np.zeros((2, 0))

    def resize(self, classes: int, models: int) -> None:
        """Make room for new classes and models."""
        self._classes = grown(self._classes, (2, classes, models))
        self._models = grown(self._models, (2, models))

    def snapshot(self, classes: int, models: int) -> dict[str, object]:
        """The statistics as plain lists, for the first so many classes and models."""
        return {
            "classes": self._classes[:, :classes, :models].tolist(),
            "models": self._models[:, :models].tolist(),
        }

    def restore(self, values: Mapping[str, object], classes: int, models: int) -> None:
        """Take over a snapshot."""
        self.resize(classes, models)
        self._classes[:, :classes, :models] = shaped(values["classes"], (2, classes, models))
        self._models[:, :models] = shaped(values["models"], (2, models))

    def add(self, query_class: int, model: int, surprise: float) -> tuple[bool, bool] | None:
        """Take rating minus expectation; return (over all classes, better) when an alarm strikes.

        An alarm resets what raised it.
        """
        in_class = self._classes[:, query_class, model]
        overall = self._models[:, model]
        _step(in_class, surprise, CLASS_SLACK)
        _step(overall, surprise, MODEL_SLACK)
        if max(overall[0], overall[1]) > MODEL_ALARM:
            better = bool(overall[1] > overall[0])
            self._models[:] = 0
            self._classes[:] = 0
            return True, better
        if max(in_class[0], in_class[1]) > CLASS_ALARM:
            better = bool(in_class[1] > in_class[0])
            in_class[:] = 0
            return False, better
        return None

    def highest(self) -> tuple[float, float, int, int | None] | None:
        """The statistic nearest to its alarm: (value, alarm, model, class or None); None before the first rating."""
        if not self._models.size or not self._classes.size:
            return None
        overall = int(self._models.max(0).argmax())
        by_class = self._classes.max(0)
        query_class, model = (int(i) for i in np.unravel_index(by_class.argmax(), by_class.shape))
        value, class_value = float(self._models[:, overall].max()), float(by_class[query_class, model])
        if value / MODEL_ALARM > class_value / CLASS_ALARM:
            return value, MODEL_ALARM, overall, None
        return class_value, CLASS_ALARM, model, query_class


def _step(statistic: Float64Array, surprise: float, slack: float) -> None:
    statistic[0] = max(0.0, statistic[0] - surprise - slack)
    statistic[1] = max(0.0, statistic[1] + surprise - slack)
