"""What two snapshots make of the same prompts, and how sure it is that one of them is better."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.959964  # two-sided 95 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Answer:
    """One sampled completion. `reward` is None when no reward source had an opinion, or none was asked."""

    text: str
    tokens: int
    truncated: bool
    reward: float | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """What the first and the second snapshot made of one held-out prompt with the same random numbers."""

    prompt: str
    first: Answer
    second: Answer

    @property
    def difference(self) -> float:
        """Reward of the first minus that of the second; NaN when one of them has none."""
        if self.first.reward is None or self.second.reward is None:
            return math.nan
        return self.first.reward - self.second.reward


@dataclass(frozen=True, slots=True)
class WinRate:
    """How often the first won among the comparisons that differ, with the ties counted apart."""

    wins: int
    ties: int
    losses: int

    @property
    def share(self) -> float:
        """Wins among wins and losses; NaN without either."""
        decided = self.wins + self.losses
        return self.wins / decided if decided else math.nan

    def interval(self, z: float = Z_95) -> tuple[float, float]:
        """Wilson's score interval for the share (Wilson 1927); the whole range without a decided comparison."""
        n = self.wins + self.losses
        if not n:
            return 0.0, 1.0
        share, spread = self.share, z * z / n
        middle = (share + spread / 2) / (1 + spread)
        half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs of a comparison, in the order of the held-out prompts."""

    pairs: tuple[Pair, ...]
    seed: int

    @property
    def win_rate(self) -> WinRate:
        """By the run's own reward; pairs without a reward are left out."""
        differences = [pair.difference for pair in self.pairs if not math.isnan(pair.difference)]
        return WinRate(
            wins=sum(difference > 0 for difference in differences),
            ties=sum(difference == 0 for difference in differences),
            losses=sum(difference < 0 for difference in differences),
        )

    def largest(self, count: int) -> list[Pair]:
        """The pairs with the largest differences in reward, from the first's greatest win to its greatest loss."""
        differing = [pair for pair in self.pairs if abs(pair.difference) > 0]
        chosen = sorted(differing, key=lambda pair: -abs(pair.difference))[:count]
        return sorted(chosen, key=lambda pair: -pair.difference)

    def distinct(self) -> list[Pair]:
        """The pairs whose texts differ: only those can be judged by reading."""
        return [pair for pair in self.pairs if pair.first.text != pair.second.text]


def rated(choices: Sequence[str]) -> WinRate:
    """The result of choices (first, second, equal, skipped); skipped ones do not count."""
    return WinRate(wins=choices.count("first"), ties=choices.count("equal"), losses=choices.count("second"))
