"""The default router policy: whom to ask, what a rating teaches, and why a model was chosen."""

import math
import random
import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.arms import Beliefs
from grpo_gui.router.choosing import checked_models, class_of, uniforms
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.context import QueryClass, RoutingContext, derive_query_class
from grpo_gui.router.drift import DriftLevel
from grpo_gui.router.explanation import Explanation, WeightMap, explain, weight_map
from grpo_gui.router.rewards import Outcome, TradeOff
from grpo_gui.router.sampler import best_probabilities, ordered_draw, with_floor
from grpo_gui.router.scorer import load_scorer
from grpo_gui.router.state import LOCKED, MODES, Learned, RouterState, config_to_json, restore_table
from grpo_gui.router_events import (
    ModelRating,
    RouterDecided,
    RouterEvent,
    RouterImported,
    RouterModelRenamed,
    RouterModeSet,
    RouterPromoted,
    RouterRated,
    RouterRolledBack,
    RouterStarted,
    RouterTradeOffSet,
    RouterWeightsMoved,
)

NEWCOMER_TRIALS = 3  # ratings in a class before a model that came later is left to the sampler there
NEWCOMER_SHARE = 0.25  # of the first draw, for all newcomers of a class together

Record = Callable[[Sequence[RouterEvent]], object]


class RouterPolicy:
    """Routes queries between models and learns from ratings; every method may be called from any thread.

    Whatever it decides and is told goes to `record` first, as entries of an append-only log; when that raises, nothing
    has happened. `replay.replay` makes an equal policy of such a log. The same seed and calls: the same decisions.
    """

    def __init__(self, config: RouterConfig | None = None, *, seed: int = 0, record: Record | None = None) -> None:
        self._lock = threading.RLock()
        self._state = RouterState(load_scorer)
        self._record: Record = record or _forget
        self._random = random.Random(seed)
        self._candidates: tuple[Sequence[str] | None, tuple[str, ...]] = (None, ())  # the newest list, checked
        self._cumulative: dict[tuple[str, tuple[str, ...]], list[float]] = {}
        self._commit(RouterStarted(config_to_json(config or RouterConfig()), seed))

    @property
    def state(self) -> RouterState:
        """The live state; only read it, and hold `lock` while doing so."""
        return self._state

    @property
    def lock(self) -> threading.RLock:
        """Held by whoever reads `state` while other threads may rate."""
        return self._lock

    # -- choosing ---------------------------------------------------------------------------------

    def route(self, context: RoutingContext, models: Sequence[str]) -> str:
        """One model, drawn from the active policy's probabilities; not recorded, so it cannot be rated.

        Raises:
            BadInputError: there are no models, one is named twice, or a name is no text.
        """
        with self._lock:
            candidates = self._checked(models)
            query_class = derive_query_class(context)
            key = (query_class, candidates)
            cumulative = None if self._state.scorers else self._cumulative.get(key)
            if cumulative is None:
                weights = self._state.weights(context.query, query_class, candidates)
                cumulative = self._state.table.softmax(weights).cumsum().tolist()
                if not self._state.scorers:
                    self._cumulative[key] = cumulative
            return candidates[min(bisect_left(cumulative, self._random.random()), len(candidates) - 1)]

    def propose(
        self,
        context: RoutingContext,
        models: Sequence[str],
        count: int | None = None,
        *,
        query_class: str | QueryClass | None = None,
    ) -> RouterDecided:
        """Choose the models to ask (`group_size`, or `count`, or all) by the Thompson sampler, and record it.

        In the mode `locked` they are drawn from the active policy's probabilities. `query_class` overrides the class
        that follows from the context, for callers who know better.

        Raises:
            BadInputError: there are no models, one is named twice, a name is no text, or `count` is below 1.
        """
        return self._decide(context, models, count, query_class, thompson=self._state.mode != LOCKED)

    def decide(self, context: RoutingContext, models: Sequence[str]) -> RouterDecided:
        """Choose the one model that answers, from the active policy's probabilities, and record it, so it can be rated.

        Raises:
            BadInputError: there are no models, one is named twice, or a name is no text.
        """
        return self._decide(context, models, 1, None, thompson=False)

    # -- learning ---------------------------------------------------------------------------------

    def rate(self, decision: int, outcomes: Mapping[str, Outcome | float]) -> Learned | None:
        """Learn from the ratings of a decision's answers; together they are one group. A number is a quality.

        Returns what it changed; None while the mode is `locked`: the ratings are kept and learned from afterwards.

        Raises:
            BadInputError: a rating is out of range, of a model that was not asked, or given already. Nothing is kept.
        """
        checked = {
            model: outcome if isinstance(outcome, Outcome) else Outcome(outcome) for model, outcome in outcomes.items()
        }
        with self._lock:
            made = self._state.decisions.get(decision)
            order = made.asked if made is not None else ()
            models = sorted(checked, key=lambda model: order.index(model) if model in order else -1)
            event = RouterRated(
                decision,
                tuple(
                    ModelRating(model, checked[model].quality, checked[model].cost, checked[model].latency_s)
                    for model in models
                ),
            )
            self._state.check_rating(event)
            learned = self._commit(event)
            if learned is not None and learned.update.had_signal and made is not None:
                row = self._state.table.row(made.query_class, self._state.arms.places(made.candidates))
                moved = RouterWeightsMoved(decision, made.query_class, made.candidates, tuple(row.tolist()))
                self._record((moved,))
            return learned

    def set_trade_off(self, trade_off: TradeOff) -> None:
        """Weigh cost and latency from now on, and learn all stored ratings again under this weighing."""
        self._commit(RouterTradeOffSet(trade_off.cost_weight, trade_off.latency_weight))

    def set_mode(self, mode: str) -> None:
        """Switch between `locked`, `shadow` and `learn`.

        Raises:
            BadInputError: there is no such mode.
        """
        if mode not in MODES:
            raise BadInputError(f"The mode is {mode!r}; choose locked, shadow or learn.")
        self._commit(RouterModeSet(mode))

    def import_table(self, table: str, network: bytes | None = None) -> None:
        """Take over a table that was learned elsewhere (`table_to_json`), before the first decision.

        A `network` that comes with it decides from then on. Both are taken over, or neither.

        Raises:
            BadInputError: one of them is damaged, or something was decided already.
        """
        with self._lock:
            if self._state.decisions or self._state.imported is not None:
                raise BadInputError("A table can only be taken over before the first decision; choose a new database.")
            restore_table(RouterState(load_scorer), table)
            if network is not None:
                load_scorer(network)
            self._commit(RouterImported(table))
            if network is not None:
                self.import_network(network)

    def import_network(self, network: bytes) -> int:
        """Let a network from elsewhere decide, without a judgement; returns its number. `roll_back` undoes it.

        Raises:
            BadInputError: the bytes are no network of a router.
        """
        load_scorer(network)
        with self._lock:
            version = self._state.promotions + 1
            self._commit(RouterPromoted(version, network, 0.0, 0.0, 0.0))
            return version

    def rename_model(self, old: str, new: str) -> None:
        """Let a model go on under another name.

        Raises:
            BadInputError: the old name is not known, or the new one is taken.
        """
        with self._lock:
            event = RouterModelRenamed(old, new)
            self._state.check_rename(event)
            self._commit(event)

    def promote(self, network: bytes, gain: float, gain_low: float, gain_high: float) -> int:
        """Let a network decide from now on; returns its number. `gain` is its estimate against the policy before.

        Raises:
            BadInputError: the interval's lower end is not above 0, or the bytes are no network.
        """
        if math.isnan(gain):
            raise BadInputError("The candidate cannot be judged yet; let it learn from more ratings.")
        if not gain_low > 0:
            raise BadInputError(
                f"The candidate is not better for certain (gain {gain:+.3f}, 95 % {gain_low:+.3f} to "
                f"{gain_high:+.3f}); let it learn from more ratings."
            )
        load_scorer(network)
        with self._lock:
            version = self._state.promotions + 1
            self._commit(RouterPromoted(version, network, gain, gain_low, gain_high))
            return version

    def roll_back(self) -> None:
        """Let the policy before the newest promotion decide again.

        Raises:
            BadInputError: no network is active.
        """
        with self._lock:
            if not self._state.scorers:
                raise BadInputError("No network is active, so there is nothing to roll back.")
            self._commit(RouterRolledBack())

    def record(self, event: RouterEvent) -> None:
        """Record an entry that others made: an answer, a training step of the candidate network."""
        self._commit(event)

    def record_to(self, record: Record | None) -> None:
        """Record from now on there, or nowhere; for a policy made from a log."""
        with self._lock:
            self._record = record or _forget

    def take(self, event: RouterEvent) -> None:
        """Take an entry of a log: it is learned from, and not recorded again.

        Raises:
            BadInputError: it does not fit the entries before.
        """
        with self._lock:
            self._state.apply(event)
            self._cumulative.clear()

    # -- explaining -------------------------------------------------------------------------------

    def explain(
        self, context: RoutingContext, models: Sequence[str], query_class: str | QueryClass | None = None
    ) -> Explanation:
        """Class and why; for each model weight, probability, propensity, quality, counts: without deciding anything.

        Raises:
            BadInputError: there are no models, one is named twice, or a name is no text.
        """
        with self._lock:
            candidates = self._checked(models)
            name, reason = class_of(context, query_class)
            weights = self._state.weights(context.query, name, candidates)
            beliefs = self._state.beliefs(name, candidates)
            proposal = self._proposal(beliefs, candidates, weights)
            return explain(self._state, name, reason, candidates, weights, beliefs, proposal)

    def weight_map(self, models: Sequence[str] | None = None) -> WeightMap:
        """Weights, qualities with intervals and counts of every class and model; `models` None: all that are known."""
        with self._lock:
            return weight_map(self._state, self._state.arms.models if models is None else self._checked(models))

    def drift_level(self) -> DriftLevel | None:
        """How near the drift alarm is; None before the first rating."""
        with self._lock:
            return self._state.arms.drift_level()

    # -- inside -----------------------------------------------------------------------------------

    def _decide(
        self,
        context: RoutingContext,
        models: Sequence[str],
        count: int | None,
        query_class: str | QueryClass | None,
        *,
        thompson: bool,
    ) -> RouterDecided:
        if count is not None and (not isinstance(count, int) or count < 1):
            raise BadInputError(f"count is {count!r}; ask at least 1 model.")
        with self._lock:
            candidates = self._checked(models)
            state = self._state
            count = min(count or state.config.group_size, len(candidates))
            name, reason = class_of(context, query_class)
            weights = state.weights(context.query, name, candidates)
            probabilities = state.table.softmax(weights)
            proposal = (
                self._proposal(state.beliefs(name, candidates), candidates, weights) if thompson else probabilities
            )
            number = len(state.decisions) + 1
            chosen, propensities = ordered_draw(proposal, count, uniforms(state.seed, number, count))
            event = RouterDecided(
                decision=number,
                query=context.query,
                query_class=name,
                reason=reason,
                policy=state.policy_name,
                sampler="thompson" if thompson else "softmax",
                candidates=candidates,
                probabilities=tuple(probabilities.tolist()),
                proposal=tuple(proposal.tolist()),
                asked=tuple(candidates[index] for index in chosen),
                propensities=propensities,
            )
            self._commit(event)
            return event

    def _proposal(self, beliefs: Beliefs, candidates: tuple[str, ...], weights: Float64Array) -> Float64Array:
        """The probabilities of the first draw: Thompson's, newcomers tried, a promoted network heard, a floor."""
        state = self._state
        deviations = beliefs.deviation() * state.config.exploration
        proposal = best_probabilities(beliefs.utility(state.trade_off), deviations)
        if state.scorers:
            proposal = (proposal + state.table.softmax(weights)) / 2
        new = [
            index
            for index, model in enumerate(candidates)
            if state.is_newcomer(model) and beliefs.ratings[index] < NEWCOMER_TRIALS
        ]
        if new and len(new) < len(candidates):
            proposal = proposal * (1 - NEWCOMER_SHARE)
            proposal[new] += NEWCOMER_SHARE / len(new)
        return with_floor(proposal, state.config.proposal_floor)

    def _checked(self, models: Sequence[str]) -> tuple[str, ...]:
        """The models as a tuple, checked once for each list."""
        if models == self._candidates[0]:
            return self._candidates[1]
        candidates = checked_models(models)
        self._candidates = (list(models) if isinstance(models, list) else candidates, candidates)
        return candidates

    def _commit(self, event: RouterEvent) -> Learned | None:
        with self._lock:
            self._record((event,))
            learned = self._state.apply(event)
            if not isinstance(event, RouterDecided):
                self._cumulative.clear()
            return learned


def _forget(events: Sequence[RouterEvent]) -> None:
    """Where a policy without a log records."""
