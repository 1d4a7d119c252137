"""What people say about a step: ratings of its own groups, and late ones of groups that were sampled before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from grpo_gui.events import GroupRef, RatingUse
from grpo_gui.grpo.advantages import group_advantages
from grpo_gui.rating.values import Terms
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.rating_rules import HUMAN
from grpo_gui.training.rating_source import RatingSource, SampledGroup
from grpo_gui.training.scoring import Scorer

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RatedGroup:
    """The human values of a group, how far its raters are trusted, and the entries of the log behind them."""

    ref: GroupRef
    values: Terms
    trust: float
    rating_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LateGroup:
    """A rated group of an earlier step with its samples."""

    rated: RatedGroup
    sampled: SampledGroup


@dataclass(frozen=True, slots=True)
class HumanTerm:
    """The ratings that a step uses, and those it found too old."""

    fresh: tuple[RatedGroup, ...] = ()
    late: tuple[LateGroup, ...] = ()
    expired: tuple[RatedGroup, ...] = ()

    @property
    def used(self) -> tuple[RatedGroup, ...]:
        """The groups that the step learns from."""
        return (*self.fresh, *(group.rated for group in self.late))

    @property
    def values(self) -> list[float]:
        """All human values that the step uses."""
        return [value for group in self.used for value in group.values if value is not None]

    def uses(self) -> tuple[RatingUse, ...]:
        """What the events say of it."""
        outcomes = [(group, "used") for group in self.used] + [(group, "expired") for group in self.expired]
        return tuple(RatingUse(group.ref, group.rating_ids, outcome, group.values) for group, outcome in outcomes)


def with_human_values(rewards_BF: Float64Array, term: HumanTerm, scorer: Scorer, group_size: int) -> Float64Array:
    """Return the rewards of a step's completions with the ratings of its own groups in the column of people."""
    filled = rewards_BF.copy()
    column = scorer.sources.index(HUMAN)
    for group in term.fresh:
        rows = slice(group.ref.index * group_size, (group.ref.index + 1) * group_size)
        filled[rows, column] = [np.nan if value is None else value for value in group.values]
    return filled


class JointAdvantages(NamedTuple):
    """What the groups of a step and the late ones teach.

    `step_share` is the share of the learning rate that the trust in the raters leaves: the mean trust in what is
    learned from, squared means weighted by the squares of the advantages; programs are trusted fully. An optimizer of
    Adam's kind takes out the size of the gradient, so that where only people speak a small trust would shorten no
    step.
    """

    of_step: Float64Array  # (P, G)
    of_late: tuple[Float64Array, ...]  # (G,) each
    step_share: float  # from 0 to 1


def joint_advantages(
    rewards_PGF: Float64Array, scorer: Scorer, config: TrainConfig, term: HumanTerm | None
) -> JointAdvantages:
    """Work out the advantages of a step's groups and of each late group.

    All but people are silent on late groups, because the programs' rewards were learned from when they were sampled.
    The weights say how much people and programs count against each other also where only one of them speaks.
    """
    late = () if term is None else term.late
    prompts, size, sources = rewards_PGF.shape
    widest = max([size, *(group.sampled.size for group in late)])
    rewards = np.full((prompts + len(late), widest, sources), np.nan)
    rewards[:prompts, :size] = rewards_PGF
    trust: Float64Array | None = None
    column = 0 if term is None else scorer.sources.index(HUMAN)
    if term is not None:
        trust = np.ones((prompts + len(late), sources))
        for fresh in term.fresh:
            trust[fresh.ref.index, column] = fresh.trust
        for row, group in enumerate(late, prompts):
            trust[row, column] = group.rated.trust
            rewards[row, : group.sampled.size, column] = [np.nan if v is None else v for v in group.rated.values]
    advantages = _advantages(rewards, scorer, config, trust)
    of_late = tuple(advantages[row, : group.sampled.size] for row, group in enumerate(late, prompts))
    share = 1.0
    if trust is not None and advantages.any():
        of_people = _advantages(_heard_alone(rewards, column), scorer, config, trust)
        share = _mean_trust(of_people, advantages - of_people, trust[:, column, None])
    return JointAdvantages(advantages[:prompts, :size], of_late, share)


def _heard_alone(rewards: Float64Array, column: int) -> Float64Array:
    alone = np.full_like(rewards, np.nan)
    alone[..., column] = rewards[..., column]
    return alone


def _mean_trust(of_people: Float64Array, of_programs: Float64Array, trust: Float64Array) -> float:
    trusted = ((trust * of_people) ** 2).sum() + (of_programs**2).sum()
    return float(np.sqrt(trusted / ((of_people**2).sum() + (of_programs**2).sum())))


def _advantages(rewards: Float64Array, scorer: Scorer, config: TrainConfig, trust: Float64Array | None) -> Float64Array:
    return group_advantages(
        rewards,
        weights=scorer.weights,
        scale=config.scale_rewards,
        aggregation=config.multi_objective_aggregation,
        std=config.advantage_std,
        eps=config.advantage_eps,
        trust=trust,
    )


def term_to_values(term: HumanTerm) -> dict[str, Any]:
    """Return the term as plain JSON; the samples of late groups are read again."""
    return {
        "fresh": [_rated_values(group) for group in term.fresh],
        "late": [_rated_values(group.rated) for group in term.late],
        "expired": [_rated_values(group) for group in term.expired],
    }


def term_from_values(values: dict[str, Any], source: RatingSource) -> HumanTerm:
    """The inverse of `term_to_values`; a late group that is gone is left out."""
    late = [(group, source.group(group.ref)) for group in _rated_groups(values["late"])]
    return HumanTerm(
        fresh=_rated_groups(values["fresh"]),
        late=tuple(LateGroup(group, sampled) for group, sampled in late if sampled is not None),
        expired=_rated_groups(values["expired"]),
    )


def _rated_values(group: RatedGroup) -> list[Any]:
    ref = group.ref
    return [[ref.run_id, ref.step, ref.index], list(group.values), group.trust, list(group.rating_ids)]


def _rated_groups(rows: Sequence[list[Any]]) -> tuple[RatedGroup, ...]:
    return tuple(RatedGroup(GroupRef(*ref), tuple(values), trust, tuple(ids)) for ref, values, trust, ids in rows)
