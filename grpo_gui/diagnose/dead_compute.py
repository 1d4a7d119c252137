"""The dead-compute meter: how many of the generated tokens taught nothing, why, and what that cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.sampled import SampledCompletion, SampledGroup

NO_ADVANTAGE = 1e-9


@dataclass(frozen=True, slots=True)
class WasteKind:
    """A reason why tokens teach nothing, and its cure."""

    name: str
    label: str
    cure: str


KINDS: tuple[WasteKind, ...] = (
    WasteKind("unrated", "not rated", "Rate more groups, or add a reward that judges every answer."),
    WasteKind("truncated", "cut off and left out", "Allow more tokens an answer (max_completion_length)."),
    WasteKind("copies", "copies of one wrong answer", "Raise the temperature, so that answers differ."),
    WasteKind("all_right", "whole group right", "Leave out prompts that are always solved, or take harder ones."),
    WasteKind("all_wrong", "whole group wrong", "Sample more answers for each prompt, or take easier prompts."),
    WasteKind("equal", "equal rewards for another reason", "Use a reward that tells answers apart more finely."),
)


@dataclass(frozen=True, slots=True)
class Waste:
    """One reason with its share of all generated tokens and the time that they took (NaN: not recorded)."""

    kind: WasteKind
    share: float
    seconds: float


@dataclass(frozen=True, slots=True)
class DeadCompute:
    """The meter over the last `steps` steps: the share of tokens without gradient, the largest reason first."""

    steps: int
    tokens: int
    share: float
    seconds: float
    reasons: tuple[Waste, ...]

    @property
    def sentence(self) -> str:
        """What a person reads."""
        if not self.tokens:
            return "How long the answers of this run were is not known, so nothing can be said about wasted work."
        if not self.reasons:
            return "Every generated token took part in the learning."
        largest = self.reasons[0]
        time = "" if math.isnan(self.seconds) else f" ({_duration(self.seconds)} of work)"
        return (
            f"{100 * self.share:.0f} % of the generated tokens taught nothing{time}, most of them because of: "
            f"{largest.kind.label} ({100 * largest.share:.0f} %). {largest.kind.cure}"
        )


def wasted_tokens(groups: Sequence[SampledGroup], *, mask_truncated: bool) -> dict[str, float]:
    """Tokens of a step that produced no gradient, by reason, as the series `waste/{reason}`; `waste/tokens` is all."""
    counts = dict.fromkeys((kind.name for kind in KINDS), 0)
    total = 0
    for group in groups:
        lengths = [len(one.token_ids) for one in group.completions]
        total += sum(lengths)
        dead = [abs(one.advantage) < NO_ADVANTAGE for one in group.completions]
        reason = _reason(group.completions) if all(dead) else "equal"
        for one, length, is_dead in zip(group.completions, lengths, dead, strict=True):
            if one.reward is None:
                counts["unrated"] += length
            elif mask_truncated and one.truncated:
                counts["truncated"] += length
            elif is_dead:
                counts[reason] += length
    return {f"waste/{name}": float(count) for name, count in counts.items() if count} | {"waste/tokens": float(total)}


def _reason(completions: Sequence[SampledCompletion]) -> str:
    right = [one.correct for one in completions]
    if all(right):
        return "all_right"
    if len({one.text for one in completions}) == 1:
        return "copies"
    return "all_wrong" if not any(right) and None not in right else "equal"


def dead_compute(history: History, last: int | None = None) -> DeadCompute:
    """The meter over the last `last` steps (None: the whole run). The time of a step is shared out by tokens."""
    total_steps, totals = history.steps("waste/tokens"), history.values("waste/tokens")
    if last is not None:
        total_steps, totals = total_steps[-last:], totals[-last:]
    tokens = float(totals.sum())
    if not tokens:
        return DeadCompute(len(totals), 0, 0.0, math.nan, ())
    per_token = dict(zip(total_steps.tolist(), totals.tolist(), strict=True))
    times = dict(zip(history.steps("step_time").tolist(), history.values("step_time").tolist(), strict=True))
    reasons = []
    for kind in KINDS:
        steps, counts = history.steps(f"waste/{kind.name}").tolist(), history.values(f"waste/{kind.name}").tolist()
        pairs = [(step, count) for step, count in zip(steps, counts, strict=True) if step in per_token]
        if pairs:
            seconds = sum(times.get(step, math.nan) * count / per_token[step] for step, count in pairs)
            reasons.append(Waste(kind, sum(count for _, count in pairs) / tokens, seconds))
    reasons.sort(key=lambda waste: -waste.share)
    share = sum(waste.share for waste in reasons)
    return DeadCompute(len(totals), int(tokens), share, sum(waste.seconds for waste in reasons), tuple(reasons))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
