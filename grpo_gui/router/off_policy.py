"""What a policy would have earned on the logged decisions: doubly robust and self-normalised estimates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grpo_gui.errors import BadInputError
from grpo_gui.grpo.advantages import Float64Array
from grpo_gui.router.sampler import Int64Array

RESAMPLES = 1000
_LOW, _HIGH = 2.5, 97.5


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One rated decision. Arrays over the candidates: `expected` reward of each by the model of rewards.

    `asked`, `propensities` and `rewards` are in the order of the draw; NaN where an answer has no rating.
    """

    expected: Float64Array
    asked: tuple[int, ...]
    propensities: tuple[float, ...]
    rewards: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PolicyValue:
    """Estimates of a policy's mean reward; `effective_sample_size` is how many decisions the weights are worth."""

    doubly_robust: Estimate
    snips: Estimate
    effective_sample_size: float
    decisions: int


def policy_value(log: Sequence[LoggedDecision], probabilities: Sequence[Float64Array], *, seed: int = 0) -> PolicyValue:
    """The value of the policy that gives each decision's candidates these probabilities.

    Doubly robust: Dudik et al. (arXiv 1103.4601) equation 1, with the ordered draw without replacement corrected by
    Des Raj's estimator (1956). SNIPS: Swaminathan and Joachims (2015), on the first draw of each decision.

    Raises:
        BadInputError: no decision has a rating of the model that was drawn first.
    """
    robust = doubly_robust_terms(log, probabilities)
    weights, rewards = _first_draws(log, probabilities)
    if not len(weights):
        raise BadInputError("No decision has a rating of the model drawn first, so no policy can be judged.")
    picks = np.random.default_rng(seed).integers(len(weights), size=(RESAMPLES, len(weights)))
    totals = weights[picks].sum(1)
    resampled = (weights * rewards)[picks].sum(1) / np.where(totals > 0, totals, np.nan)
    total = float(weights.sum())
    snips = float((weights * rewards).sum()) / total if total > 0 else float("nan")
    return PolicyValue(
        bootstrap(robust, seed=seed),
        Estimate(snips, *_interval(resampled)),
        total**2 / float((weights**2).sum()) if total > 0 else 0.0,
        len(weights),
    )


def doubly_robust_terms(log: Sequence[LoggedDecision], probabilities: Sequence[Float64Array]) -> Float64Array:
    """One unbiased value per decision: the expected reward, corrected by the ratings.

    The k-th draw alone gives sum_{j<k} y_j + y_k / propensity_k with y = probability * (reward - expected); the mean
    over the draws up to the first answer without a rating is used.
    """
    terms = []
    for decision, target in zip(log, probabilities, strict=True):
        value = float(target @ decision.expected)
        before, corrections = 0.0, []
        for index, propensity, reward in zip(decision.asked, decision.propensities, decision.rewards, strict=True):
            if np.isnan(reward):
                break
            surprise = float(target[index]) * (reward - float(decision.expected[index]))
            corrections.append(before + surprise / propensity)
            before += surprise
        terms.append(value + (sum(corrections) / len(corrections) if corrections else 0.0))
    return np.array(terms)


def bootstrap(values: Float64Array, *, seed: int = 0) -> Estimate:
    """The mean with its percentile interval over resampled decisions."""
    if not len(values):
        return Estimate(float("nan"), float("nan"), float("nan"))
    picks: Int64Array = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    return Estimate(float(values.mean()), *_interval(values[picks].mean(1)))


def _first_draws(log: Sequence[LoggedDecision], probabilities: Sequence[Float64Array]) -> tuple[Float64Array, ...]:
    rated = [(d, target) for d, target in zip(log, probabilities, strict=True) if not np.isnan(d.rewards[0])]
    weights = np.array([float(target[d.asked[0]]) / d.propensities[0] for d, target in rated])
    return weights, np.array([d.rewards[0] for d, _ in rated])


def _interval(values: Float64Array) -> tuple[float, float]:
    low, high = np.nanpercentile(values, (_LOW, _HIGH)) if not np.isnan(values).all() else (np.nan, np.nan)
    return float(low), float(high)
