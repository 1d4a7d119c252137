"""Pools the metrics of the loss over micro-batches and inner updates by (sum, count)."""

import math
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class MetricLayout:
    """Which metric stands at which place of the tensors of `MetricSums`."""

    means: tuple[tuple[str, str], ...]  # (name, what counts: tokens, completions or share)
    extremes: tuple[tuple[str, int], ...]  # (name, 1 for a maximum, -1 for a minimum, kept negated)


@lru_cache
def loss_layout(*, cispo: bool, sequence: bool, with_kl: bool, with_entropy: bool) -> MetricLayout:
    """Return the layout in the order in which `grpo_loss` stacks its sums and extremes."""
    unit = "completions" if sequence else "tokens"
    means = [("loss", "share"), ("policy_loss", "share")]
    extremes = [("ratio/min", -1), ("ratio/max", 1)]
    if cispo:
        means += [("cispo_clip_ratio", unit)]
    else:
        means += [(f"clip_ratio/{kind}_mean", unit) for kind in ("low", "high", "region")]
    if with_kl:
        means += [("kl", "tokens")]
        extremes += [("kl/max", 1)]
    if with_entropy:
        means += [("entropy", "tokens")]
    if not cispo:
        extremes += [("clip_ratio/low_min", -1), ("clip_ratio/high_max", 1)]
    return MetricLayout(tuple(means), tuple(extremes))


class MetricSums:
    """Sums, counts and extremes of one or many batches; starts empty, grows by `add` and `merge`.

    Nothing is copied from the device before `result`, which does it once.
    """

    def __init__(self) -> None:
        self._layout: MetricLayout | None = None
        self._totals = torch.empty(0)
        self._extremes = torch.empty(0)
        self._tokens = torch.zeros(())
        self._completions = 0
        self._share = 0.0

    @classmethod
    def of_batch(
        cls, layout: MetricLayout, totals: Tensor, extremes: Tensor, tokens: Tensor, completions: int, share: float
    ) -> "MetricSums":
        """Hold one batch: `totals` (means,), `extremes` (extremes,), `tokens` (), its share of the whole batch."""
        sums = cls()
        sums._layout, sums._totals, sums._extremes = layout, totals, extremes
        sums._tokens, sums._completions, sums._share = tokens, completions, share
        return sums

    def add(self, result: "LossResult") -> None:
        """Add the metrics of one call of `grpo_loss`."""
        self.merge(result.sums)

    def merge(self, other: "MetricSums") -> None:
        """Add everything that `other` holds.

        Raises:
            ValueError: `other` holds different metrics.
        """
        if other._layout is None:
            return
        if self._layout is None:
            self._layout, self._totals, self._extremes = other._layout, other._totals, other._extremes
            self._tokens = other._tokens
        elif self._layout != other._layout:
            raise ValueError("Only metrics of the same loss options can be pooled.")
        else:
            self._totals = self._totals + other._totals
            self._extremes = torch.maximum(self._extremes, other._extremes)
            self._tokens = self._tokens + other._tokens
        self._completions += other._completions
        self._share += other._share

    def parts(self) -> dict[str, Tensor]:
        """Return what `of_batch` takes beside the layout, by its names, so that sums can be saved half done."""
        return {
            "totals": self._totals,
            "extremes": self._extremes,
            "tokens": self._tokens,
            "completions": torch.tensor(self._completions),
            "share": torch.tensor(self._share, dtype=torch.float64),
        }

    def result(self) -> dict[str, float]:
        """Return every metric by name; NaN where there was not one token to measure. Empty if nothing was added."""
        if self._layout is None:
            return {}
        values = torch.cat((self._totals, self._extremes, self._tokens.reshape(1))).tolist()
        counts = {"tokens": values[-1], "completions": self._completions, "share": self._share}
        metrics: dict[str, float] = {}
        for (name, unit), total in zip(self._layout.means, values, strict=False):
            metrics[name] = total / counts[unit] if counts[unit] else math.nan
        for (name, sign), value in zip(self._layout.extremes, values[len(self._layout.means) :], strict=False):
            metrics[name] = math.nan if value == -math.inf else sign * value
        return metrics

    def tensors(self) -> dict[str, Tensor]:
        """Return the same as `result`, as scalar tensors that stay on the device."""
        if self._layout is None:
            return {}
        counts: dict[str, Tensor | float] = {
            "tokens": self._tokens,
            "completions": self._completions,
            "share": self._share,
        }
        means = {name: self._totals[i] / counts[unit] for i, (name, unit) in enumerate(self._layout.means)}
        return means | {name: sign * self._extremes[i] for i, (name, sign) in enumerate(self._layout.extremes)}


@dataclass(frozen=True, slots=True)
class LossResult:
    """What `grpo_loss` returns. B completions, T tokens; everything but `loss` is detached.

    Where the mask is 0: ratio 1, kl 0, clipped 0.
    """

    loss: Tensor  # scalar to call backward on; the losses of all micro-batches of a batch add up to its loss
    completion_losses: Tensor  # (B,) what each adds to `loss`: tells which completion is not finite
    ratio: Tensor  # (B, T), before the clamp to delta; the same for all tokens at sequence level
    kl: Tensor | None  # (B, T) as it enters the loss, None without a reference
    clipped: Tensor  # (B, T) int8: -1 low, 0 no, 1 high
    sums: MetricSums

    @property
    def metrics(self) -> dict[str, Tensor]:
        """The metrics of this batch alone, by TRL's names, as scalar tensors."""
        return self.sums.tensors()
