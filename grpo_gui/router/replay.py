"""Makes the table and the candidate network again from the log, and compares them with what was noted then."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grpo_gui.errors import BadInputError
from grpo_gui.router.policy import Record, RouterPolicy
from grpo_gui.router_events import (
    RouterEvent,
    RouterNetworkStarted,
    RouterNetworkStepped,
    RouterStarted,
    RouterWeightsMoved,
)

if TYPE_CHECKING:
    from grpo_gui.router.learner import NetworkLearner


@dataclass(frozen=True, slots=True)
class Replayed:
    """A policy and its candidate network (None: the log has none), as the log makes them.

    `differences` are sentences about what came out otherwise than noted; `weights_compared` and `steps_compared` say
    how much was compared.
    """

    policy: RouterPolicy
    learner: "NetworkLearner | None"
    differences: tuple[str, ...]
    weights_compared: int
    steps_compared: int


def replay(events: Iterable[RouterEvent], *, record: Record | None = None, with_network: bool = True) -> Replayed:
    """Replay a log. With a network torch is imported, and its training takes as long as it did.

    Raises:
        BadInputError: the entries do not fit each other.
    """
    policy, learner = RouterPolicy(), None
    differences: list[str] = []
    weights = steps = 0
    for number, event in enumerate(events):
        if isinstance(event, RouterStarted) != (number == 0):
            raise BadInputError("A router's log begins with its options, and holds them once.")
        policy.take(event)
        if isinstance(event, RouterWeightsMoved):
            weights += 1
            if not _has_weights(policy, event):
                differences.append(f"The weights of {event.query_class} after decision {event.decision} differ.")
        elif isinstance(event, RouterNetworkStarted) and with_network:
            from grpo_gui.router.learner import NetworkLearner

            learner = NetworkLearner.from_event(policy, event)
        elif isinstance(event, RouterNetworkStepped) and learner is not None:
            steps += 1
            if not learner.repeat_step(event):
                differences.append(f"The network before training step {event.step} differs.")
    policy.record_to(record)
    return Replayed(policy, learner, tuple(differences), weights, steps)


def _has_weights(policy: RouterPolicy, event: RouterWeightsMoved) -> bool:
    state = policy.state
    row = state.table.row(event.query_class, state.arms.places(event.models))
    return tuple(row.tolist()) == event.weights
