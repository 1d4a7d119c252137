"""What the router did: the entries of its append-only log, from which all it has learned can be made again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RouterStarted:
    """A router began with nothing learned. `config` is the JSON of its options."""

    config: str
    seed: int


@dataclass(frozen=True, slots=True)
class RouterImported:
    """A table that was learned elsewhere is taken over, before anything is learned here. `table` is its JSON."""

    table: str


@dataclass(frozen=True, slots=True)
class RouterDecided:
    """Models were chosen for a query. Decisions count from 1.

    `probabilities` are those of the active policy and `proposal` those of the first draw, one entry a candidate;
    `propensities` are the probabilities with which each of `asked` was drawn, given those drawn before it.
    """

    decision: int
    query: str
    query_class: str
    reason: str  # a clause that follows "because"
    policy: str  # "table", or "network 3" for the network promoted third
    sampler: str  # "thompson" or "softmax"
    candidates: tuple[str, ...]
    probabilities: tuple[float, ...]
    proposal: tuple[float, ...]
    asked: tuple[str, ...]
    propensities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RouterAnswered:
    """A model answered, or did not: `error` is a sentence then, else empty. Nothing is learned from this alone."""

    decision: int
    model: str
    text: str
    tokens: int | None
    cost: float
    latency_s: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class ModelRating:
    """The rating of one answer: quality from 0 to 1, cost in the user's unit, latency in seconds."""

    model: str
    quality: float
    cost: float
    latency_s: float


@dataclass(frozen=True, slots=True)
class RouterRated:
    """Answers of one decision were rated together: a group, in the order in which the models were drawn."""

    decision: int
    ratings: tuple[ModelRating, ...]


@dataclass(frozen=True, slots=True)
class RouterWeightsMoved:
    """The table's weights of a class after a decision was rated. Follows from the rest; replay compares it."""

    decision: int
    query_class: str
    models: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RouterTradeOffSet:
    """From here on reward = quality - cost_weight * cost - latency_weight * latency_s, for older ratings too."""

    cost_weight: float
    latency_weight: float


@dataclass(frozen=True, slots=True)
class RouterModeSet:
    """The mode changed: locked, shadow or learn."""

    mode: str


@dataclass(frozen=True, slots=True)
class RouterModelRenamed:
    """A model goes on under another name, with its history."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class RouterModelAdded:
    """A model can be asked from here on, or in another way than before.

    `location` is a folder, "builtin", "expert:NAME" for a shipped one, or the model's name at the endpoint.
    `key_source` says where an endpoint's key is: empty (it needs none), "keyring", or "env:NAME"; the key itself is
    never kept here.
    """

    name: str
    kind: str  # built-in, snapshot, endpoint
    location: str
    endpoint_url: str
    key_source: str
    cost_per_1000_tokens: float


@dataclass(frozen=True, slots=True)
class RouterModelRemoved:
    """A model is not asked any more; its history stays."""

    name: str


@dataclass(frozen=True, slots=True)
class RouterNetworkStarted:
    """A candidate network begins with nothing learned. `config` is the JSON of its options."""

    config: str
    device: str


@dataclass(frozen=True, slots=True)
class RouterNetworkStepped:
    """The candidate network makes training step number `step` on the ratings so far.

    `digest` is the sha256 of its weights before the step.
    """

    step: int
    digest: str


@dataclass(frozen=True, slots=True)
class RouterPromoted:
    """A network took over, as number `version`; `network` is a safetensors file with all that it needs."""

    version: int
    network: bytes
    gain: float  # doubly robust estimate against the policy before, with its interval
    gain_low: float
    gain_high: float


@dataclass(frozen=True, slots=True)
class RouterRolledBack:
    """The policy before the newest promotion took over again."""


RouterEvent = (
    RouterStarted
    | RouterImported
    | RouterDecided
    | RouterAnswered
    | RouterRated
    | RouterWeightsMoved
    | RouterTradeOffSet
    | RouterModeSet
    | RouterModelRenamed
    | RouterModelAdded
    | RouterModelRemoved
    | RouterNetworkStarted
    | RouterNetworkStepped
    | RouterPromoted
    | RouterRolledBack
)
