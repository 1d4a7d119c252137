"""Do people and program prefer the same answers? Kendall's tau on the audit sample, the alarm for a gamed reward."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from grpo_gui.events import GroupRef
from grpo_gui.rating.agreement import distinct_completions
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import Terms, group_values, rater_scales
from grpo_gui.rating_events import RatableGroup

WINDOW = 10  # audited groups that a point of the curve is the mean of
_Z = 1.2816  # 80 % of a normal distribution lie within this many standard deviations


@dataclass(frozen=True, slots=True)
class GroupTau:
    """Kendall's tau of one audited group, sampled at `step`: 1 the same order, 0 unrelated, -1 the opposite."""

    step: int
    tau: float


@dataclass(frozen=True, slots=True)
class TauPoint:
    """The mean of the newest taus up to a step, with an 80 % interval (the same number thrice for one group)."""

    step: int
    mean: float
    low: float
    high: float


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return tau-b, which allows for ties; None when either order has no two different values.

    Source: Kendall 1945. (concordant - discordant) / sqrt((pairs - ties in first) (pairs - ties in second)).
    """
    score = untied_first = untied_second = 0
    for i, j in combinations(range(len(first)), 2):
        one = (first[i] > first[j]) - (first[i] < first[j])
        other = (second[i] > second[j]) - (second[i] < second[j])
        score += one * other
        untied_first += one != 0
        untied_second += other != 0
    if not untied_first or not untied_second:
        return None
    return score / math.sqrt(untied_first * untied_second)


def group_tau(human: Terms, program: Terms, distinct: Iterable[int]) -> float | None:
    """Tau between people and program over the distinct completions on which both have an opinion."""
    both = [
        (mine, its)
        for mine, its in ((human[index], program[index]) for index in distinct)
        if mine is not None and its is not None
    ]
    return kendall_tau([mine for mine, _ in both], [its for _, its in both])


def audit_taus(log: RatingLog, groups: Mapping[GroupRef, RatableGroup]) -> list[GroupTau]:
    """The taus of the audited groups among `groups`, by rising step. Only they are a fair sample of what is made."""
    scales = rater_scales(log)
    found = []
    for ref, by_rater in sorted(log.counting().items()):
        audited = {rater: entry for rater, entry in by_rater.items() if entry.event.is_audit}
        if not audited or ref not in groups:
            continue
        human = group_values(audited, scales).values
        tau = group_tau(human, groups[ref].program, distinct_completions(next(iter(audited.values()))))
        if tau is not None:
            found.append(GroupTau(ref.step, tau))
    return sorted(found, key=lambda one: one.step)


def tau_curve(taus: Sequence[GroupTau]) -> list[TauPoint]:
    """A point for each audited group: the mean of it and up to nine before it."""
    points = []
    for end in range(1, len(taus) + 1):
        window = [one.tau for one in taus[max(0, end - WINDOW) : end]]
        mean = statistics.fmean(window)
        half = _Z * statistics.stdev(window) / math.sqrt(len(window)) if len(window) > 1 else 0.0
        points.append(TauPoint(taus[end - 1].step, mean, max(-1.0, mean - half), min(1.0, mean + half)))
    return points
