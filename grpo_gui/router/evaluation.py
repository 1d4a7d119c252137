"""Measures the router on rewards that are known in full: regret over a stream, drift, accuracy on held-out queries.

A stream is the rows in an order drawn by the seed, seen once, one rating per query. Regret is what the best model of
each class, known in hindsight, would have earned, less what was earned. For the drift the reward columns rotate by one
model at half-time. For accuracy half of the rows teach and the greedy policy is scored on the other half.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.baselines import BASELINES, Baseline, make_baseline
from grpo_gui.router.config import RouterConfig
from grpo_gui.router.context import RoutingContext
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.routing_data import RoutingData
from grpo_gui.router.sampler import Int64Array

BUDGETS = (200, 1000, 4000)  # ratings after which the greedy policy is scored
_T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)  # Student's t, 1 to 10 degrees


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over seeds: mean, 95 % interval of the mean (None for one seed), and the value of each seed."""

    mean: float
    low: float | None
    high: float | None
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> "Figure":
        """Sum up one value per seed."""
        numbers = tuple(float(value) for value in values)
        mean, count = float(np.mean(numbers)), len(numbers)
        if count < 2:
            return cls(mean, None, None, numbers)
        freedom = count - 1
        t = _T_975[freedom - 1] if freedom <= len(_T_975) else 1.96 + 2.6 / freedom
        half = t * float(np.std(numbers, ddof=1)) / count**0.5
        return cls(mean, mean - half, mean + half, numbers)


@dataclass(frozen=True, slots=True)
class Stream:
    """Rewards earned one after the other (N,), what the best model of each query's class would have earned (N,)."""

    earned: Float64Array
    best: Float64Array

    @property
    def regret(self) -> float:
        """The sum of what was missed."""
        return float(self.best.sum() - self.earned.sum())


def router_stream(data: RoutingData, seed: int, config: RouterConfig | None = None, *, drift: bool = False) -> Stream:
    """The router on a stream, from nothing."""
    halves = (data, _rotated(data) if drift else data)
    policy = _policy(data, seed, config)
    columns = {model: column for column, model in enumerate(data.models)}
    choices = np.zeros(len(data), dtype=np.int64)
    for time, row in enumerate(_order(data, seed)):
        made = policy.propose(RoutingContext(), data.models, 1, query_class=data.classes[row])
        choices[time] = columns[made.asked[0]]
        policy.rate(made.decision, {made.asked[0]: halves[2 * time >= len(data)].outcome(row, choices[time])})
    return _stream(halves, seed, choices)


def baseline_stream(data: RoutingData, name: str, seed: int, *, drift: bool = False) -> Stream:
    """A baseline on the same stream."""
    halves = (data, _rotated(data) if drift else data)
    rewards = [half.rewards for half in halves]
    baseline, numbers = _baseline(data, name, rewards[0], seed)
    choices = np.zeros(len(data), dtype=np.int64)
    for time, row in enumerate(_order(data, seed)):
        choices[time] = baseline.choose(numbers[row])
        baseline.learn(numbers[row], choices[time], float(rewards[2 * time >= len(data)][row, choices[time]]))
    return _stream(halves, seed, choices)


def router_accuracy(
    data: RoutingData,
    seed: int,
    config: RouterConfig | None = None,
    *,
    budgets: Sequence[int] = BUDGETS,
) -> dict[int, float]:
    """Mean reward of the greedy policy on held-out queries after so many ratings; budgets the data cannot fill miss.

    The last entry is after one pass over the half that teaches; each query asks `group_size` models.
    """
    learning, held_out = _halves(data, seed)
    policy = _policy(data, seed, config)
    columns = {model: column for column, model in enumerate(data.models)}
    ratings = 0
    result: dict[int, float] = {}
    for row in learning:
        made = policy.propose(RoutingContext(), data.models, query_class=data.classes[row])
        policy.rate(made.decision, {model: data.outcome(row, columns[model]) for model in made.asked})
        due = [budget for budget in budgets if ratings < budget <= ratings + len(made.asked)]
        ratings += len(made.asked)
        if due:
            result |= dict.fromkeys(due, greedy_reward(policy, data, held_out))
    result[ratings] = greedy_reward(policy, data, held_out)
    return result


def baseline_accuracy(data: RoutingData, name: str, seed: int) -> float:
    """Mean reward on held-out queries of what a baseline thinks best after a pass with one rating per query."""
    learning, held_out = _halves(data, seed)
    rewards = data.rewards
    if name == "random":
        return float(rewards[held_out].mean())
    baseline, numbers = _baseline(data, name, rewards[learning], seed)
    for row in learning:
        model = baseline.choose(numbers[row])
        baseline.learn(numbers[row], model, float(rewards[row, model]))
    return float(np.mean([rewards[row, baseline.best(numbers[row])] for row in held_out]))


def greedy_reward(policy: RouterPolicy, data: RoutingData, rows: Int64Array) -> float:
    """Mean reward when each query goes to the model with the highest weight of its class."""
    best = {
        name: int(policy.state.weights("", name, data.models).argmax()) for name in {data.classes[row] for row in rows}
    }
    return float(data.rewards[rows, [best[data.classes[row]] for row in rows]].mean())


def evaluate(data: RoutingData, seeds: Sequence[int], config: RouterConfig | None = None) -> dict[str, object]:
    """Accuracy, regret and baselines over seeds, as plain values for JSON."""
    accuracies = [router_accuracy(data, seed, config) for seed in seeds]
    budgets = sorted(set(accuracies[0]).intersection(*accuracies))
    return {
        "queries": len(data),
        "models": list(data.models),
        "classes": len(set(data.classes)),
        "seeds": list(seeds),
        "accuracy": _plain(Figure.of(list(result.values())[-1] for result in accuracies))
        | {"after_ratings": {str(n): _plain(Figure.of(result[n] for result in accuracies)) for n in budgets}},
        "regret": _plain(Figure.of(router_stream(data, seed, config).regret for seed in seeds)),
        "baselines": {
            name: {
                "accuracy": _plain(Figure.of(baseline_accuracy(data, name, seed) for seed in seeds)),
                "regret": _plain(Figure.of(baseline_stream(data, name, seed).regret for seed in seeds)),
            }
            for name in BASELINES
        },
    }


def _plain(figure: Figure) -> dict[str, object]:
    return {"mean": figure.mean, "low": figure.low, "high": figure.high, "per_seed": list(figure.values)}


def _order(data: RoutingData, seed: int) -> Int64Array:
    return np.random.default_rng(seed).permutation(len(data))


def _halves(data: RoutingData, seed: int) -> tuple[Int64Array, Int64Array]:
    order = _order(data, seed)
    return order[: (len(order) + 1) // 2], order[(len(order) + 1) // 2 :] if len(order) > 1 else order


def _policy(data: RoutingData, seed: int, config: RouterConfig | None) -> RouterPolicy:
    policy = RouterPolicy(config, seed=seed)
    policy.set_trade_off(data.trade_off)
    return policy


def _rotated(data: RoutingData) -> RoutingData:
    """The same with every model's rewards, costs and latencies given to the next model."""
    qualities, costs, latencies = (np.roll(v, 1, axis=1) for v in (data.qualities, data.costs, data.latencies))
    return replace(data, qualities=qualities, costs=costs, latencies=latencies)


def _stream(halves: tuple[RoutingData, RoutingData], seed: int, choices: Int64Array) -> Stream:
    """What the choices earned, and what the best model of each class, over all rows, would have."""
    order, second = _order(halves[0], seed), (2 * np.arange(len(choices)) >= len(choices)).astype(int)
    rewards = np.stack([half.rewards for half in halves])
    best = np.zeros(rewards.shape[:2])
    names = np.array(halves[0].classes)
    for name in set(halves[0].classes):
        rows = names == name
        for half in range(2):
            best[half, rows] = rewards[half, rows, rewards[half, rows].mean(0).argmax()]
    return Stream(rewards[second, order, choices], best[second, order])


def _baseline(data: RoutingData, name: str, rewards: Float64Array, seed: int) -> tuple[Baseline, list[int]]:
    classes = {name: number for number, name in enumerate(sorted(set(data.classes)))}
    return make_baseline(name, rewards, len(classes), seed), [classes[name] for name in data.classes]
