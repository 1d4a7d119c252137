"""Trains the candidate network on the log and says whether it may take over; works on any thread, one at a time."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.grpo.rollout_metrics import rollout_metrics
from grpo_gui.router.features import FeatureCache, feature_source
from grpo_gui.router.groups import AUDIT_ONE_IN, LEAST_DECISIONS, TrainingGroup, audit_log, training_groups
from grpo_gui.router.network import MASKED, BatchResult, CandidateNetwork, NetworkBatch
from grpo_gui.router.network_config import NetworkConfig
from grpo_gui.router.off_policy import Estimate, PolicyValue, bootstrap, doubly_robust_terms, policy_value
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.state import LEARN, LOCKED, Scorer
from grpo_gui.router_events import RouterDecided, RouterNetworkStarted, RouterNetworkStepped


@dataclass(frozen=True, slots=True)
class NetworkStep:
    """One training step of the candidate; metrics by the names of the Train view."""

    step: int
    metrics: dict[str, float]
    groups: tuple[TrainingGroup, ...]
    batch: NetworkBatch
    result: BatchResult


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the candidate compares with the active policy on decisions that did not train it.

    `gain` is the doubly robust difference of the mean rewards. `is_better`: its 95 % interval lies above 0.
    `ratings_needed` is about how many more ratings would decide if the gain stays; None when it is not positive.
    """

    gain: Estimate
    candidate: PolicyValue | None
    active: PolicyValue | None
    decisions: int
    is_better: bool
    ratings_needed: int | None


class NetworkLearner:
    """The candidate network of a router."""

    def __init__(self, policy: RouterPolicy, config: NetworkConfig, *, device: str = "cpu") -> None:
        """Use `begin`, which also records that a new candidate begins."""
        self.policy = policy
        self.config = config
        self.device = device
        self.steps = 0
        self._features = FeatureCache(feature_source(config.features))
        self._network: CandidateNetwork | None = None
        self._ratings = 0
        self._renames_seen = len(policy.state.renames)

    @classmethod
    def begin(
        cls, policy: RouterPolicy, config: NetworkConfig | None = None, *, device: str = "cpu"
    ) -> "NetworkLearner":
        """A new candidate with nothing learned.

        Raises:
            BadInputError: there is no such feature source or device.
            MissingExtraError, ModelError: the sentence embedding model cannot be used.
        """
        config = config or NetworkConfig()
        learner = cls(policy, config, device=device)
        policy.record(RouterNetworkStarted(json.dumps(asdict(config)), device))
        return learner

    @classmethod
    def from_event(cls, policy: RouterPolicy, event: RouterNetworkStarted) -> "NetworkLearner":
        """The candidate that a log entry began."""
        return cls(policy, network_config_from_json(event.config), device=event.device)

    @property
    def digest(self) -> str:
        """The sha256 of the weights; empty before the first step."""
        return "" if self._network is None else self._network.digest()

    @property
    def parameters(self) -> int:
        """How many numbers are trained; 0 before the first step."""
        return 0 if self._network is None else self._network.parameters

    def step(self) -> NetworkStep | None:
        """Train on a batch of the rated groups.

        None when all of them were seen often enough, so that new ratings are needed, or the mode is `locked`.
        """
        with self.policy.lock:
            groups = training_groups(self.policy.state)
            if self.policy.state.mode == LOCKED or self.steps >= self._steps_due(len(groups)):
                return None
            self.policy.record(RouterNetworkStepped(self.steps + 1, self.digest))
            prepared = self._prepare(groups)
        return self._train(*prepared)

    def repeat_step(self, event: RouterNetworkStepped) -> bool:
        """Make a step of the log again; False when the weights before it are not those of then."""
        with self.policy.lock:
            equal = event.step == self.steps + 1 and event.digest == self.digest
            prepared = self._prepare(training_groups(self.policy.state))
        self._train(*prepared)
        return equal

    def scorer(self) -> Scorer | None:
        """The candidate as it would decide now; None before the first step."""
        return None if self._network is None else self._network.scorer(self._gate())

    def verdict(self, *, seed: int = 0) -> Verdict:
        """Judge the candidate against the active policy on the audit decisions."""
        with self.policy.lock:
            state = self.policy.state
            entries = audit_log(state)
            decisions = [decision for decision, _ in entries]
            table = [state.table.row(d.query_class, state.arms.places(d.candidates)) for d in decisions]
            active = state.scorers[-1] if state.scorers else None
            softmax = state.table.softmax
        log = [logged for _, logged in entries]
        if self._network is None or len(log) < LEAST_DECISIONS:
            nothing = Estimate(float("nan"), float("nan"), float("nan"))
            return Verdict(nothing, None, None, len(log), False, None)
        ours = [softmax(w) for w in self._with_offsets(table, self.scorer(), decisions)]
        theirs = [softmax(w) for w in self._with_offsets(table, active, decisions)]
        difference = doubly_robust_terms(log, ours) - doubly_robust_terms(log, theirs)
        gain = bootstrap(difference, seed=seed)
        per_decision = self._ratings_per_decision()
        return Verdict(
            gain,
            policy_value(log, ours, seed=seed),
            policy_value(log, theirs, seed=seed),
            len(log),
            gain.low > 0,
            _ratings_needed(gain, len(log), per_decision),
        )

    def promote(self, verdict: Verdict) -> int:
        """Let the candidate decide from now on; returns its number.

        Raises:
            BadInputError: it has not learned anything, is not better for certain, or the mode is not `learn`.
        """
        scorer = self.scorer()
        if scorer is None:
            raise BadInputError("The candidate network has not learned anything yet; rate more answers.")
        if self.policy.state.mode != LEARN:
            raise BadInputError("The candidate takes over in the mode `learn` only; switch to it first.")
        gain = verdict.gain
        return self.policy.promote(scorer.to_bytes(), gain.mean, gain.low, gain.high)

    def _steps_due(self, groups: int) -> int:
        return -(-groups * self.config.passes // self.config.groups_per_step)

    def _gate(self) -> float:
        return self.config.gate(self._ratings)

    def _ratings_per_decision(self) -> float:
        groups = self.policy.state.groups
        return sum(len(group.ratings) for group in groups) / max(len({group.decision for group in groups}), 1)

    def _with_offsets(
        self, rows: list[Float64Array], scorer: Scorer | None, decisions: list[RouterDecided]
    ) -> list[Float64Array]:
        if scorer is None:
            return rows
        if scorer.features != self.config.features:
            return [row + scorer.offsets(d.query, d.candidates) for row, d in zip(rows, decisions, strict=True)]
        kept = (self._features([(d.decision, d.query)]) for d in decisions)
        return [
            row + scorer.offsets_of(features, d.candidates)[0]
            for row, d, features in zip(rows, decisions, kept, strict=True)
        ]

    def _prepare(
        self, groups: list[TrainingGroup]
    ) -> tuple[list[TrainingGroup], tuple[str, ...], list[Float64Array], Scorer | None]:
        """What the step learns from, copied while the policy stands still."""
        state = self.policy.state
        self._ratings = sum(len(group.rewards) for group in groups)
        picks = np.random.default_rng((state.seed, self.steps)).permutation(len(groups))[: self.config.groups_per_step]
        chosen = [groups[pick] for pick in picks]
        rows = [state.table.row(g.decision.query_class, state.arms.places(g.decision.candidates)) for g in chosen]
        renames, self._renames_seen = state.renames[self._renames_seen :], len(state.renames)
        if self._network is not None:
            for old, new in renames:
                self._network.rename(old, new)
        reference = state.scorers[-1] if state.scorers else None
        return chosen, state.arms.models, rows, reference

    def _train(
        self,
        groups: list[TrainingGroup],
        models: tuple[str, ...],
        rows: list[Float64Array],
        reference: Scorer | None,
    ) -> NetworkStep:
        if self._network is None:
            size = self._features.size
            seed = self.policy.state.seed
            self._network = CandidateNetwork(self.config, size, models, device=self.device, seed=seed)
        self._network.know(models)
        batch = _batch(groups, self._network.models, rows, reference, self._features)
        result = self._network.train(batch, self._gate())
        self.steps += 1
        return NetworkStep(self.steps, _metrics(batch, groups, result, self.config), tuple(groups), batch, result)


def network_config_from_json(text: str) -> NetworkConfig:
    """The options of a candidate network.

    Raises:
        BadInputError: it is not the JSON of such options.
    """
    try:
        return NetworkConfig(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise BadInputError(f"These are not the options of a router's network: {error}.") from error


def _batch(
    groups: list[TrainingGroup],
    models: Sequence[str],
    rows: list[Float64Array],
    reference: Scorer | None,
    features: FeatureCache,
) -> NetworkBatch:
    columns = {model: column for column, model in enumerate(models)}
    size = max(len(group.rewards) for group in groups)
    shape = (len(groups), size)
    base = np.full((len(groups), len(models)), MASKED, np.float32)
    added = np.zeros((len(groups), len(models)), np.float32)
    asked, mask = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    advantages = np.zeros(shape, np.float32)
    matrix = features([(g.decision.decision, g.decision.query) for g in groups])
    for p, (group, row) in enumerate(zip(groups, rows, strict=True)):
        decision = group.decision
        places = [columns[model] for model in decision.candidates]
        base[p, places] = row
        if reference is not None:
            added[p, places] = reference.offsets_of(matrix[p : p + 1], decision.candidates)[0]
        count = len(group.rated)
        asked[p, :count] = [columns[decision.asked[place]] for place in group.rated]
        advantages[p, :count], mask[p, :count] = group.advantages, 1
    return NetworkBatch(matrix, base, added, asked, mask, advantages)


def _metrics(
    batch: NetworkBatch, groups: list[TrainingGroup], result: BatchResult, config: NetworkConfig
) -> dict[str, float]:
    rewards = np.full(batch.asked.shape, np.nan)
    for row, group in zip(rewards, groups, strict=True):
        row[: len(group.rewards)] = group.rewards
    advantages = batch.advantages
    ones = np.ones(rewards.size, dtype=np.int64)
    nobody = np.full(rewards.shape, np.nan)
    return {
        **rollout_metrics(rewards[:, :, None], None, advantages, ones, ones * 0, nobody, sources=("rating",)),
        **result.metrics.result(),
        "grad_norm": result.grad_norm,
        "learning_rate": config.learning_rate,
    }


def _ratings_needed(gain: Estimate, decisions: int, ratings_per_decision: float) -> int | None:
    """The interval narrows with the root of the audit decisions, of which one in `AUDIT_ONE_IN` is one."""
    if not gain.mean > 0 or gain.low > 0:
        return 0 if gain.low > 0 else None
    times = ((gain.mean - gain.low) / gain.mean) ** 2
    return round(decisions * (times - 1) * AUDIT_ONE_IN * ratings_per_decision)
