"""The rated groups of the log, as the candidate network learns from them and is judged on them."""

import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from grpo_gui.grpo.advantages import Float64Array, group_advantages
from grpo_gui.router.off_policy import LoggedDecision
from grpo_gui.router.rewards import FLAT_SPREAD
from grpo_gui.router.state import RouterState
from grpo_gui.router_events import RouterDecided, RouterRated

AUDIT_ONE_IN = 4  # decisions: they judge the candidate, and never train it
LEAST_DECISIONS = 50  # rated audit decisions before a candidate can be judged


@dataclass(frozen=True, slots=True)
class TrainingGroup:
    """One rated query: rewards and advantages in the order of `rated` (places in the decision's `asked`)."""

    decision: RouterDecided
    rated: tuple[int, ...]
    rewards: tuple[float, ...]
    advantages: tuple[float, ...]


def is_audit(decision: int) -> bool:
    """True for the decisions that only judge the candidate; a fixed property of the number."""
    return zlib.crc32(str(decision).encode()) % AUDIT_ONE_IN == 0


def training_groups(state: RouterState) -> list[TrainingGroup]:
    """All groups that carry a signal and are not for audit, under the trade-off of now, in the order of rating."""
    groups = (_training_group(state, event) for event in state.groups if not is_audit(event.decision))
    return [group for group in groups if group is not None]


def audit_log(state: RouterState) -> list[tuple[RouterDecided, LoggedDecision]]:
    """The rated decisions that judge the candidate, with the expected rewards of all candidates."""
    rewards: dict[int, dict[str, float]] = {}
    for event in state.groups:
        if is_audit(event.decision):
            rewards.setdefault(event.decision, {}).update((r.model, state.reward(r)) for r in event.ratings)
    return [(state.decisions[number], _logged(state, state.decisions[number], rewards[number])) for number in rewards]


def audited(state: RouterState) -> int:
    """How many rated decisions judge the candidate."""
    return len({event.decision for event in state.groups if is_audit(event.decision)})


def _logged(state: RouterState, decision: RouterDecided, rewards: dict[str, float]) -> LoggedDecision:
    columns = {model: column for column, model in enumerate(decision.candidates)}
    return LoggedDecision(
        state.beliefs(decision.query_class, decision.candidates).utility(state.trade_off),
        tuple(columns[model] for model in decision.asked),
        decision.propensities,
        tuple(rewards.get(model, np.nan) for model in decision.asked),
    )


def _training_group(state: RouterState, event: RouterRated) -> TrainingGroup | None:
    decision = state.decisions[event.decision]
    places = {model: place for place, model in enumerate(decision.asked)}
    rewards = tuple(state.reward(rating) for rating in event.ratings)
    if len(rewards) == 1:
        difference = rewards[0] - _expected_reward(state, decision)
        advantages: tuple[float, ...] | None = (difference,) if abs(difference) > FLAT_SPREAD else None
    else:
        advantages = _advantages(rewards)
    if advantages is None:
        return None
    return TrainingGroup(decision, tuple(places[rating.model] for rating in event.ratings), rewards, advantages)


@lru_cache(maxsize=1 << 16)
def _advantages(rewards: tuple[float, ...]) -> tuple[float, ...] | None:
    """Those of a group; None where its rewards are equal. Every step asks for those of all groups again."""
    if max(rewards) - min(rewards) <= FLAT_SPREAD:
        return None
    return tuple(group_advantages(np.array(rewards)[None, :, None])[0].tolist())


def _expected_reward(state: RouterState, decision: RouterDecided) -> float:
    """What the table expects of the query: the baseline of a rating that came alone."""
    expected: Float64Array = state.beliefs(decision.query_class, decision.candidates).utility(state.trade_off)
    probabilities = state.table.probabilities(decision.query_class, state.arms.places(decision.candidates))
    return float(probabilities @ expected)
