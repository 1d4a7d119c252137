"""The settings that may change while a run goes on: labels, texts, strides and checks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from grpo_gui.store.records import ChangeRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.rules import CHECKS
from grpo_gui.ui.formatting import MINUS, NOTHING


@dataclass(frozen=True, slots=True)
class Hyperparameter:
    """One setting. Up and Down multiply it by `factor`, or add `stride` where the factor is 1."""

    name: str
    label: str
    short: str
    tooltip: str
    factor: float = 1.0
    stride: float = 0.0

    def text(self, value: float | None) -> str:
        """The value as the fields write it: 3.0e-4 for a learning rate, 0.20 for the rest; empty for None."""
        if value is None:
            return ""
        if self.factor != 1.0 or 0 < abs(value) < 0.001:
            mantissa, exponent = f"{value:.1e}".split("e")
            short = f"{mantissa}e{int(exponent)}"
            return short if float(short) == value else f"{value:.10g}"
        plain = f"{value:.2f}" if round(value, 2) == value else f"{value:.10g}"
        return f"{value:.3f}" if self.name == "beta" and round(value, 3) == value else plain

    def moved(self, value: float, direction: int) -> float:
        """The next value upwards (1) or downwards (-1), never below 0."""
        moved = value * self.factor**direction if self.factor != 1.0 else value + direction * self.stride
        return max(float(f"{moved:.6g}"), 0.0)

    def parse(self, text: str) -> float | None:
        """Read a field; empty is None.

        Raises:
            ValueError: the text is no number.
        """
        text = text.strip().replace(MINUS, "-").replace(",", ".")
        if not text:
            return None
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text} is not a finite number")
        return value

    def problem(self, config: TrainConfig, value: float | None) -> str | None:
        """The sentence that tells what is wrong with a value in this run, None when it can be used."""
        if value is None:
            return f"{self.label} needs a number."
        changed: dict[str, Any] = {self.name: value}
        return CHECKS[self.name](replace(config, **changed))


HYPERPARAMETERS: dict[str, Hyperparameter] = {
    entry.name: entry
    for entry in (
        Hyperparameter(
            "learning_rate",
            "Learning rate",
            "lr",
            "learning_rate: how far one update moves the weights. Warm-up and decay are applied to it. Up and Down "
            "change it by a tenth.",
            factor=1.1,
        ),
        Hyperparameter(
            "beta",
            "KL weight beta",
            "beta",
            "beta: how strongly the KL term holds the model near its reference. Up and Down change it by 0.005.",
            stride=0.005,
        ),
        Hyperparameter(
            "epsilon",
            "Clip low epsilon",
            "epsilon",
            "epsilon: a token with a negative advantage stops pushing once its ratio falls below 1 \u2212 epsilon. "
            "Up and Down change it by 0.01.",
            stride=0.01,
        ),
        Hyperparameter(
            "epsilon_high",
            "Clip high epsilon",
            "epsilon_high",
            "epsilon_high: a token with a positive advantage stops pushing once its ratio rises above "
            "1 + epsilon_high. Empty takes epsilon. Up and Down change it by 0.01.",
            stride=0.01,
        ),
        Hyperparameter(
            "temperature",
            "Temperature",
            "temperature",
            "temperature: 1 samples as the model says, lower is more decided, higher more varied. Up and Down change "
            "it by 0.05.",
            stride=0.05,
        ),
    )
}


def change_text(change: ChangeRecord) -> str:
    """A change in a few words: lr 3.0e-4 \u2192 2.0e-4."""
    known = HYPERPARAMETERS.get(change.name)
    old, new = ((known.text(v) if known and v is not None else _plain(v)) for v in (change.old, change.new))
    return f"{known.short if known else change.name} {old} \u2192 {new}"


def current_values(config: TrainConfig, changes: Iterable[ChangeRecord]) -> dict[str, float | None]:
    """The values in force: those of the config, then the changes in their order."""
    values: dict[str, float | None] = {name: getattr(config, name) for name in HYPERPARAMETERS}
    for change in changes:
        if change.name in values:
            values[change.name] = change.new
    return values


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"
