"""The checks at the first step, as a short list: is the loop right before it runs for hours?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.text import number, percent

RATIO, RATIO_HALF = 1e-3, 2e-2
KL, KL_HALF = 1e-4, 1e-2
SUM = 1e-4
MEMORY_SHARE = 0.25  # how far the forecast may be off
PROGRAM_GB = 1.0  # what the program takes beside its model, torch and the window included
NOT_RECORDED = "Not recorded by this run."


class Outcome(Enum):
    """How a check ended; the value is the word that people see."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "not recorded by this run"


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """One line: what was checked, how it ended, and the numbers in a sentence."""

    name: str
    label: str
    outcome: Outcome
    sentence: str


def self_checks(history: History, facts: RunFacts) -> tuple[SelfCheck, ...]:
    """All checks of the first step, from the values that were recorded with it."""
    return tuple(check(history, facts) for check in _CHECKS)


def _first(history: History, name: str) -> float:
    values = history.head(name, 1)
    return float(values[0]) if values.size else math.nan


def _made(name: str, label: str, value: float, good: bool, sentence: str, unknown: str = NOT_RECORDED) -> SelfCheck:
    """A check of `value`; NaN: it cannot be made, for the reason `unknown`."""
    if math.isnan(value):
        return SelfCheck(name, label, Outcome.UNKNOWN, unknown)
    return SelfCheck(name, label, Outcome.PASSED if good else Outcome.FAILED, sentence)


def _ratio(history: History, facts: RunFacts) -> SelfCheck:
    value = _first(history, "check/first_ratio")
    limit = RATIO_HALF if facts.bf16 else RATIO
    sentence = (
        f"The model gives its own samples the probability they were drawn with, to {number(value)} (limit "
        f"{number(limit)})."
    )
    return _made("ratio", "Ratio is 1 at the first update", value, value <= limit, sentence)


def _kl(history: History, facts: RunFacts) -> SelfCheck:
    value = _first(history, "samples/reference_kl")
    limit = KL_HALF if facts.bf16 else KL
    sentence = f"Distance to the starting model before any update: {number(value)} (limit {number(limit)})."
    return _made("kl", "KL is 0 at the start", value, value <= limit, sentence)


def _sums(history: History, _facts: RunFacts) -> SelfCheck:
    value = _first(history, "samples/group_sum_error")
    sentence = f"The advantages of each group add up to 0, to {number(value)} (limit {number(SUM)})."
    return _made("sums", "Advantages sum to 0", value, value <= SUM, sentence)


def _bound(history: History, facts: RunFacts) -> SelfCheck:
    value = _first(history, "samples/advantage_excess")
    bound = facts.advantage_bound
    sentence = (
        "" if bound is None else f"No advantage is beyond ±{number(bound)}, the most that is possible in a group."
    )
    is_known = history.has("samples/group_sum_error")
    unknown = "With the settings of this run an advantage has no bound." if is_known else NOT_RECORDED
    return _made("bound", "Advantages within their bound", value, value <= SUM, sentence, unknown)


def _mask(history: History, _facts: RunFacts) -> SelfCheck:
    value = _first(history, "check/mask_tokens")
    good = value == 0
    sentence = (
        "Exactly the tokens of the answers are trained on."
        if good
        else f"{number(abs(value))} tokens too {'many' if value > 0 else 'few'} are trained on."
    )
    return _made("mask", "Mask covers the answers", value, good, sentence)


def _end(history: History, _facts: RunFacts) -> SelfCheck:
    value = _first(history, "check/end_in_mask")
    sentence = (
        f"The end token is trained on in {percent(value)} of the answers that ended." if not math.isnan(value) else ""
    )
    return _made("end", "End token is trained on", value, value == 1.0, sentence)


def _fuzz(history: History, _facts: RunFacts) -> SelfCheck:
    kinds = [name for name in history.names_between("fuzz/", "") if name not in ("real_median", "real_lowest")]
    middle = _first(history, "fuzz/real_median")
    worst = max((_first(history, f"fuzz/{kind}") for kind in kinds), default=math.nan)
    lowest = _first(history, "fuzz/real_lowest")
    good = worst < middle or (worst == middle and middle <= lowest)
    sentence = f"The best-paid nonsense earns {number(worst)}, half of the real answers more than {number(middle)}."
    return _made("fuzz", "Nonsense is not paid", worst if not math.isnan(middle) else math.nan, good, sentence)


def _memory(history: History, _facts: RunFacts) -> SelfCheck:
    forecast, measured = _first(history, "system/memory_forecast_gb"), _first(history, "system/gpu_memory_gb")
    room, beside = 0.0, ""
    if math.isnan(measured):
        measured, room, beside = _first(history, "system/memory_gb"), PROGRAM_GB, " beside the program itself"
    most = forecast * (1 + MEMORY_SHARE) + room
    sentence = f"Forecast {number(forecast)} GB{beside}, measured {number(measured)} GB in all."
    unknown = NOT_RECORDED
    if math.isnan(forecast) and not math.isnan(measured):
        unknown = f"No forecast is made for this model; measured {number(measured)} GB."
    return _made("memory", "Memory as forecast", measured - most, measured <= most, sentence, unknown)


_CHECKS: tuple[Callable[[History, RunFacts], SelfCheck], ...] = (
    _ratio,
    _kl,
    _sums,
    _bound,
    _mask,
    _end,
    _fuzz,
    _memory,
)
