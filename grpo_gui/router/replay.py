"""Makes the table and the candidate network again from the log, and compares them with what was noted then."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from grpo_gui.errors import BadInputError
from grpo_gui.router.policy import Record, RouterPolicy
from grpo_gui.router_events import (
    RouterEvent,
    RouterNetworkStarted,
    RouterNetworkStepped,
    RouterStarted,
    RouterTradeOffSet,
    RouterWeightsMoved,
)


class Repeater(Protocol):
    """What replay needs of a `NetworkLearner`, without torch."""

    def repeat_step(self, event: RouterNetworkStepped) -> bool:
        """Make a step of the log again; False when the weights before it are not those of then."""


L = TypeVar("L", bound=Repeater)
MakeLearner = Callable[[RouterPolicy, RouterNetworkStarted], L]


@dataclass(frozen=True, slots=True)
class Replayed(Generic[L]):
    """A policy and its candidate network (None: there is none, or it was not asked for), as the log makes them.

    `differences` are sentences about what came out otherwise than noted; `weights_compared` and `steps_compared` say
    how much was compared.
    """

    policy: RouterPolicy
    learner: L | None
    differences: tuple[str, ...]
    weights_compared: int
    steps_compared: int


def replay(
    events: Iterable[RouterEvent], *, record: Record | None = None, make_learner: MakeLearner[L] | None = None
) -> Replayed[L]:
    """Replay a log; the policy records to `record` afterwards.

    With `make_learner` (`NetworkLearner.from_event`) the candidate is trained again too, which takes as long as it did.

    Raises:
        BadInputError: the entries do not fit each other.
    """
    policy = RouterPolicy()
    learner: L | None = None
    differences: list[str] = []
    weights = steps = 0
    log = list(events)
    for number, (event, following) in enumerate(zip(log, [*log[1:], None], strict=True)):
        if isinstance(event, RouterStarted) != (number == 0):
            raise BadInputError("A router's log begins with its options, and holds them once.")
        if isinstance(event, RouterTradeOffSet) and isinstance(following, RouterTradeOffSet):
            continue  # each makes all anew from the ratings: of many in a row, left by a slider, the last counts
        policy.take(event)
        if isinstance(event, RouterWeightsMoved):
            weights += 1
            if not _has_weights(policy, event):
                differences.append(f"The weights of {event.query_class} after decision {event.decision} differ.")
        elif isinstance(event, RouterNetworkStarted) and make_learner is not None:
            learner = make_learner(policy, event)
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
