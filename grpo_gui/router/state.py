"""Everything that the router has learned, as a function of its log: nothing else changes it, so replay is exact."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.arms import ArmStatistics, Beliefs
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.drift import DriftAlarm
from grpo_gui.router.features import Float32Array
from grpo_gui.router.rewards import Outcome, TradeOff
from grpo_gui.router.table import GroupUpdate, RatedGroup, TableWeights
from grpo_gui.router_events import (
    ModelRating,
    RouterAnswered,
    RouterDecided,
    RouterEvent,
    RouterImported,
    RouterModelAdded,
    RouterModelRemoved,
    RouterModelRenamed,
    RouterModeSet,
    RouterNetworkStarted,
    RouterNetworkStepped,
    RouterPromoted,
    RouterRated,
    RouterRolledBack,
    RouterStarted,
    RouterTradeOffSet,
    RouterWeightsMoved,
)

LOCKED, SHADOW, LEARN = MODES = ("locked", "shadow", "learn")
TABLE_FORMAT = "grpo-gui router table 1"
POOLED = ""  # a class name that no query has: beliefs over all classes


class Scorer(Protocol):
    """What a promoted network does for the policy; free of torch. `features` names how it sees queries."""

    features: str

    def offsets(self, query: str, models: tuple[str, ...]) -> Float64Array:
        """What to add to the table's weights for a query, one number a model; 0 for a model it does not know."""

    def offsets_of(self, features: Float32Array, models: tuple[str, ...]) -> Float64Array:
        """The same (queries, models) for features of queries that are at hand."""

    def to_bytes(self) -> bytes:
        """A safetensors file with all that it needs."""

    def rename(self, old: str, new: str) -> None:
        """A model goes on under another name."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What one group of ratings changed."""

    rated: RouterRated
    update: GroupUpdate
    alarms: tuple[DriftAlarm, ...]


class RouterState:
    """The learned state. `load_network` turns a promoted network's bytes into a scorer."""

    def __init__(self, load_network: Callable[[bytes], Scorer]) -> None:
        self._load_network = load_network
        self.begin(RouterStarted(config_to_json(RouterConfig()), 0))

    def begin(self, event: RouterStarted) -> None:
        """Forget everything and take the options of the log's first entry."""
        self.config = config_from_json(event.config)
        self.seed = event.seed
        self.mode = LEARN
        self.imported: str | None = None  # the table that was taken over at the beginning
        self.trade_off = TradeOff()
        self.arms = ArmStatistics(self.config.prior_strength, self.config.discount)
        self.table = TableWeights(self.config)
        self.decisions: dict[int, RouterDecided] = {}
        self.rated: dict[int, set[str]] = {}  # which models of a decision have a rating
        self.groups: list[RouterRated] = []  # in the order of learning
        self.waiting: list[RouterRated] = []  # rated while locked
        self.alarms: list[tuple[int, DriftAlarm]] = []  # (decision, alarm)
        self.newcomers: set[str] = set()
        self.scorers: list[Scorer] = []  # promoted and not rolled back; the last one is active
        self.promotions = 0
        self.renames: list[tuple[str, str]] = []
        self.active_versions: list[int] = []
        self.models: dict[str, RouterModelAdded] = {}  # that can be asked, for those who ask them

    @property
    def policy_name(self) -> str:
        """The active policy: "table" or "network N"."""
        return f"network {self.active_versions[-1]}" if self.active_versions else "table"

    def apply(self, event: RouterEvent) -> Learned | None:
        """Take one entry of the log; what a rating taught is returned.

        Raises:
            BadInputError: the entry does not fit the log so far.
        """
        match event:
            case RouterStarted():
                self.begin(event)
            case RouterImported():
                self._import(event)
            case RouterDecided():
                self._decided(event)
            case RouterRated():
                return self._rated(event)
            case RouterTradeOffSet():
                self.trade_off = TradeOff(event.cost_weight, event.latency_weight)
                self._learn_again()
            case RouterModeSet():
                self._set_mode(event.mode)
            case RouterModelAdded() | RouterModelRemoved() | RouterModelRenamed():
                self._change_models(event)
            case RouterPromoted():
                self.scorers.append(self._load_network(event.network))
                self.promotions = event.version
                self.active_versions.append(event.version)
            case RouterRolledBack():
                if not self.scorers:
                    raise BadInputError("No network is active, so there is nothing to roll back.")
                self.scorers.pop()
                self.active_versions.pop()
            case RouterAnswered() | RouterNetworkStarted() | RouterNetworkStepped() | RouterWeightsMoved():
                pass
        return None

    def is_newcomer(self, model: str) -> bool:
        """True for a model that came, or would come now, when others had ratings already."""
        return model in self.newcomers or (bool(self.groups) and model not in self.arms.known)

    def weights(self, query: str, query_class: str, models: tuple[str, ...]) -> Float64Array:
        """The active policy's weights: those of the table, and what the network adds."""
        row = self.table.row(query_class, self.arms.places(models))
        return row + self.scorers[-1].offsets(query, models) if self.scorers else row

    def beliefs(self, query_class: str, models: tuple[str, ...]) -> Beliefs:
        """What the ratings say of the models in a class; a class never seen has the pooled beliefs."""
        return self.arms.beliefs(query_class, self.arms.places(models))

    def reward(self, rating: ModelRating) -> float:
        """The reward of a stored rating under the trade-off of now."""
        return self.trade_off.reward(rating)

    def _import(self, event: RouterImported) -> None:
        if self.decisions or self.imported is not None:
            raise BadInputError("A table can only be taken over before the first decision; choose a new database.")
        restore_table(self, event.table)
        self.imported = event.table

    def _decided(self, event: RouterDecided) -> None:
        self.newcomers.update(model for model in event.candidates if self.is_newcomer(model))
        self.arms.introduce(event.candidates)
        self.decisions[event.decision] = event

    def _rated(self, event: RouterRated) -> Learned | None:
        self.check_rating(event)
        self.rated.setdefault(event.decision, set()).update(rating.model for rating in event.ratings)
        if self.mode == LOCKED:
            self.waiting.append(event)
            return None
        self.groups.append(event)
        return self._learn(event)

    def check_rating(self, event: RouterRated) -> None:
        """See that the rating fits a decision.

        Raises:
            BadInputError: there is no such decision, a model was not asked, or was rated already.
        """
        decision = self.decisions.get(event.decision)
        if decision is None:
            raise BadInputError(f"There is no decision {event.decision}; rate one that the router has made.")
        done = self.rated.get(event.decision, set())
        models = [rating.model for rating in event.ratings]
        if not models:
            raise BadInputError("Nothing is rated; give a quality for at least one of the models asked.")
        for model in models:
            if model not in decision.asked:
                raise BadInputError(f"{model} was not asked in decision {event.decision}; rate one that was.")
            if model in done or models.count(model) > 1:
                raise BadInputError(f"{model} is rated already in decision {event.decision}.")

    def _learn(self, event: RouterRated) -> Learned:
        decision = self.decisions[event.decision]
        name = decision.query_class
        alarms: list[DriftAlarm] = []
        for rating in event.ratings:
            alarm = self.arms.add(name, rating.model, Outcome(rating.quality, rating.cost, rating.latency_s))
            if alarm is not None:
                alarms.append(alarm)
        self.alarms += [(event.decision, alarm) for alarm in alarms]
        places = {model: place for place, model in enumerate(decision.asked)}
        columns = {model: column for column, model in enumerate(decision.candidates)}
        group = RatedGroup(
            candidates=self.arms.places(decision.candidates),
            asked=tuple(columns[model] for model in decision.asked),
            propensities=decision.propensities,
            rated=tuple(places[rating.model] for rating in event.ratings),
            rewards=tuple(self.reward(rating) for rating in event.ratings),
        )
        utilities = self.beliefs(name, decision.candidates).utility(self.trade_off)
        pooled = self.beliefs(POOLED, decision.candidates).utility(self.trade_off)
        return Learned(event, self.table.learn(name, group, utilities, pooled), tuple(alarms))

    def _learn_again(self) -> None:
        """Learn from all stored groups in their order, under the trade-off of now."""
        models, trade_off = self.arms.models, self.trade_off
        self.arms = ArmStatistics(self.config.prior_strength, self.config.discount)
        self.table = TableWeights(self.config)
        self.alarms = []
        if self.imported is not None:
            restore_table(self, self.imported)
            self.trade_off = trade_off
        self.arms.introduce(models)
        for event in self.groups:
            self._learn(event)

    def _set_mode(self, mode: str) -> None:
        if mode not in MODES:
            raise BadInputError(f"The mode is {mode!r}; choose locked, shadow or learn.")
        self.mode = mode
        if mode != LOCKED:
            waiting, self.waiting = self.waiting, []
            for event in waiting:
                self.groups.append(event)
                self._learn(event)

    def _change_models(self, event: RouterModelAdded | RouterModelRemoved | RouterModelRenamed) -> None:
        match event:
            case RouterModelAdded():
                self.models[event.name] = event
            case RouterModelRemoved():
                self.models.pop(event.name, None)
            case RouterModelRenamed():
                self._rename(event)

    def _rename(self, event: RouterModelRenamed) -> None:
        self.check_rename(event)
        self.renames.append((event.old, event.new))
        self.arms.rename(event.old, event.new)
        names: Mapping[str, str] = {event.old: event.new}
        asked = (replace(model, name=names.get(model.name, model.name)) for model in self.models.values())
        self.models = {model.name: model for model in asked}
        self.decisions = {number: _renamed_decision(made, names) for number, made in self.decisions.items()}
        self.groups = [_renamed_rating(group, names) for group in self.groups]
        self.waiting = [_renamed_rating(group, names) for group in self.waiting]
        self.rated = {number: {names.get(m, m) for m in models} for number, models in self.rated.items()}
        self.newcomers = {names.get(model, model) for model in self.newcomers}
        for scorer in self.scorers:
            scorer.rename(event.old, event.new)

    def check_rename(self, event: RouterModelRenamed) -> None:
        """See that the new name is free.

        Raises:
            BadInputError: the old name is not known, or the new one is taken.
        """
        if event.old not in self.arms.models and event.old not in self.models:
            raise BadInputError(f"There is no model named {event.old!r} to rename.")
        if not event.new or event.new in self.arms.models or event.new in self.models:
            raise BadInputError(f"A model named {event.new!r} has a history already; choose another name.")


def table_to_json(state: RouterState) -> str:
    """The learned table with its statistics, from which `restore_table` goes on exactly."""
    trade_off = state.trade_off
    return json.dumps(
        {
            "format": TABLE_FORMAT,
            "trade_off": {"cost_weight": trade_off.cost_weight, "latency_weight": trade_off.latency_weight},
            "arms": state.arms.snapshot(),
            "table": state.table.snapshot(),
        },
        ensure_ascii=False,
        indent=1,
    )


def restore_table(state: RouterState, text: str) -> None:
    """Take over a table.

    Raises:
        BadInputError: it is not the JSON of a table; the state is as it was.
    """
    arms, table = ArmStatistics(state.config.prior_strength, state.config.discount), TableWeights(state.config)
    try:
        values = json.loads(text)
        if values["format"] != TABLE_FORMAT:
            raise ValueError(f"its format is {values['format']!r}")
        arms.restore(values["arms"])
        table.restore(values["table"])
        trade_off = TradeOff(**values["trade_off"])
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise BadInputError(f"This is not a table of the router: {error}.") from error
    state.arms, state.table, state.trade_off = arms, table, trade_off


def config_to_json(config: RouterConfig) -> str:
    """The options as JSON."""
    return json.dumps(asdict(config))


def config_from_json(text: str) -> RouterConfig:
    """The inverse of `config_to_json`.

    Raises:
        BadInputError: it is not the JSON of a router's options.
    """
    try:
        return RouterConfig(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise BadInputError(f"These are not the options of a router: {error}.") from error


def _renamed_decision(made: RouterDecided, names: Mapping[str, str]) -> RouterDecided:
    if not names.keys() & set(made.candidates):
        return made
    return replace(
        made,
        candidates=tuple(names.get(model, model) for model in made.candidates),
        asked=tuple(names.get(model, model) for model in made.asked),
    )


def _renamed_rating(group: RouterRated, names: Mapping[str, str]) -> RouterRated:
    return replace(
        group, ratings=tuple(replace(rating, model=names.get(rating.model, rating.model)) for rating in group.ratings)
    )
