"""What the Router view asks of the router: a protocol that the composition root fills; the window has no torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from grpo_gui.router.drift import DriftAlarm, DriftLevel
from grpo_gui.router.explanation import Explanation, WeightMap
from grpo_gui.router.rewards import TradeOff
from grpo_gui.router.shadows import RegretCurves
from grpo_gui.router_events import RouterDecided
from grpo_gui.store.records_router import DecisionQuery, DecisionRecord
from grpo_gui.ui.background_tasks import TaskFailure

READY, LOADING, DEAD = "ready", "loading", "dead"  # where a model stands
WAITING, STREAMING, DONE, FAILED, CANCELLED = "waiting", "streaming", "done", "failed", "cancelled"  # an answer

HASHED = "hashed n-grams"

Failed = Callable[[TaskFailure], None]
Cancel = Callable[[], None]


@dataclass(frozen=True, slots=True)
class RouterModel:
    """A model that can be asked. Built-in ones and snapshots answer in this process."""

    name: str
    kind: str  # built-in, snapshot, endpoint
    where: str  # a folder, "builtin", or an endpoint's URL and model
    state: str  # ready, loading (also: being tried), dead
    sentence: str  # why it is dead, else empty
    cost_per_1000_tokens: float


@dataclass(frozen=True, slots=True)
class NewModel:
    """A model to add: a folder (`endpoint_url` empty), or a model of an OpenAI-compatible endpoint.

    `key` goes to the system's keyring and nowhere else; `key_variable` names an environment variable instead. Both are
    empty for an endpoint without a key. `location` is a folder, or the model's name at the endpoint.
    """

    name: str
    location: str
    endpoint_url: str = ""
    key: str = ""
    key_variable: str = ""
    cost_per_1000_tokens: float = 0.0

    def __repr__(self) -> str:
        """Without the key, so that no log can hold it."""
        return f"NewModel(name={self.name!r}, location={self.location!r}, endpoint_url={self.endpoint_url!r})"


@dataclass(frozen=True, slots=True)
class Candidate:
    """The network that learns beside the active policy.

    `gain` is the doubly robust difference of the mean rewards with its 95 % interval; None before it can be judged.
    `sentence` says where it stands, for people. `features`: how it sees queries, "hashed n-grams" or the folder of a
    sentence embedding model.
    """

    steps: int
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    is_better: bool
    ratings_needed: int | None
    sentence: str
    features: str = HASHED


@dataclass(frozen=True, slots=True)
class RouterOverview:
    """All that the view shows beside the query at hand; a new one after every change."""

    models: tuple[RouterModel, ...]
    mode: str  # locked, shadow, learn
    policy: str  # "table" or "network N"
    can_roll_back: bool
    group_size: int
    probability_floor: float
    logit_cap: float
    decisions: int
    ratings: int
    waiting: int  # ratings given while locked, not learned from yet
    trade_off: TradeOff
    weights: WeightMap
    regret: RegretCurves
    drift: DriftLevel | None
    alarms: tuple[tuple[int, DriftAlarm], ...]  # (decision, alarm), newest last
    candidate: Candidate
    run_id: int | None  # of the network in the run history; None before its first step


@dataclass(frozen=True, slots=True)
class Asked:
    """A decision with its explanation. The answers come through `on_answer`, in the order of `decided.asked`."""

    decided: RouterDecided
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class AnswerState:
    """How far one model is with its answer. `text` is all of it so far, `sentence` why it failed."""

    decision: int
    model: str
    state: str  # waiting, streaming, done, failed, cancelled
    text: str
    tokens: int
    seconds: float
    sentence: str = ""


class RouterEngine(Protocol):
    """Works beside the GUI thread and calls back on it. Every change ends in a new overview."""

    @property
    def overview(self) -> RouterOverview | None:
        """The newest overview; None until the log has been read."""

    def watch(self, changed: Callable[[RouterOverview], None]) -> None:
        """Call `changed` with every new overview from now on, and soon with the one of now."""

    def begin(self, failed: Failed) -> None:
        """Add the built-in model and the two experts that are shipped: the empty state's button."""

    def explain(self, query: str, done: Callable[[Explanation], None], failed: Failed) -> None:
        """Class, scores, probabilities and propensities of a query, without asking anybody. The newest call wins."""

    def ask(
        self,
        query: str,
        done: Callable[[Asked], None],
        on_answer: Callable[[AnswerState], None],
        failed: Failed,
        *,
        count: int | None = None,
        time_limit_s: float = 60.0,
    ) -> Cancel:
        """Choose `count` of the living models (None: the group size) and ask them.

        `done` comes first, then `on_answer` many times; each model ends with done, failed or cancelled. The result
        cancels what is still under way. What failed or was cancelled before any text cannot be rated.
        """

    def rate(self, decision: int, stars: Mapping[str, int], done: Callable[[], None], failed: Failed) -> None:
        """Learn from 1 to 5 for each answer given; 1 is quality 0, 5 is quality 1."""

    def set_trade_off(self, trade_off: TradeOff, failed: Failed) -> None:
        """Weigh cost and time from now on and recompute everything; of quick calls the newest wins."""

    def set_mode(self, mode: str, failed: Failed) -> None:
        """Switch between locked, shadow and learn."""

    def promote(self, failed: Failed) -> None:
        """Let the candidate network decide from now on; refused unless it is better for certain."""

    def roll_back(self, failed: Failed) -> None:
        """Let the policy before the newest promotion decide again, and go to shadow, so that it stays there."""

    def set_features(self, features: str, failed: Failed) -> None:
        """Let a new candidate network begin that sees queries so: `HASHED`, or a sentence embedding model's folder."""

    def add_model(self, model: NewModel, done: Callable[[], None], failed: Failed) -> None:
        """Add a model; it is tried in the background."""

    def remove_model(self, name: str, failed: Failed) -> None:
        """Do not ask a model any more; its history stays."""

    def rename_model(self, old: str, new: str, failed: Failed) -> None:
        """Give a model another name, with its history."""

    def retry_model(self, name: str) -> None:
        """Try a dead model again now."""

    def history(
        self,
        query: DecisionQuery,
        before: int | None,
        done: Callable[[tuple[DecisionRecord, ...]], None],
        failed: Failed,
    ) -> None:
        """Up to 50 decisions that the query finds, newest first, those below number `before` only."""
