"""The bounds of the ratio that held for a step, for the bars of a completion's tokens."""

from collections.abc import Sequence

from grpo_gui.store.records import ChangeRecord
from grpo_gui.training.config import TrainConfig

Bounds = tuple[float | None, float | None]


def clip_bounds(config: TrainConfig, changes: Sequence[ChangeRecord], step: int) -> Bounds:
    """Give the lower and upper bound of a token's ratio at a step; None where there is none.

    CISPO caps the ratio at epsilon_high itself and has no lower bound (MiniMax-M1, arXiv 2506.13585);
    at sequence level (GSPO) the bounds hold for the completion as a whole, so no token has one.
    """
    if config.importance_sampling_level == "sequence":
        return None, None
    epsilon = _setting_at("epsilon", config.epsilon, changes, step)
    epsilon_high = _setting_at("epsilon_high", config.epsilon_high, changes, step)
    high = epsilon if epsilon_high is None else epsilon_high
    if config.loss_type == "cispo":
        return None, high
    return (None if epsilon is None else 1.0 - epsilon), (None if high is None else 1.0 + high)


def _setting_at(name: str, start: float | None, changes: Sequence[ChangeRecord], step: int) -> float | None:
    value = start
    for change in sorted(changes, key=lambda change: change.step):
        if change.name == name and change.step <= step:
            value = change.new
    return value
