"""The GRPO algorithm: tensors in, tensors out, no I/O. Names that need torch are loaded when first used."""

from importlib import import_module
from typing import TYPE_CHECKING

from grpo_gui.grpo.advantages import group_advantages
from grpo_gui.grpo.config import LossConfig
from grpo_gui.grpo.definitions import METRICS, MetricDefinition, definition_of
from grpo_gui.grpo.rollout_metrics import rollout_metrics

if TYPE_CHECKING:
    from grpo_gui.grpo.entropy import token_entropy
    from grpo_gui.grpo.loss import grpo_loss
    from grpo_gui.grpo.metric_sums import LossResult, MetricSums

__all__ = [
    "METRICS",
    "LossConfig",
    "LossResult",
    "MetricDefinition",
    "MetricSums",
    "definition_of",
    "group_advantages",
    "grpo_loss",
    "rollout_metrics",
    "token_entropy",
]

_MODULE_OF = {
    "LossResult": "metric_sums",
    "MetricSums": "metric_sums",
    "grpo_loss": "loss",
    "token_entropy": "entropy",
}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
