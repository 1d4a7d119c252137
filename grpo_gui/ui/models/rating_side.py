"""What the right column of the Rate view shows, as plain values, made beside the GUI thread."""

import time
from dataclasses import dataclass

import numpy as np

from grpo_gui.rating.agreement import FEWEST_REPEATS
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.progress import RatingProgress, RatingRules, rating_progress
from grpo_gui.rating.quality import FEWEST_PICKS, HASTE_S, LONG_LINE, RaterQuality, rater_quality
from grpo_gui.rating.queue import Queue
from grpo_gui.rating.tau import audit_taus, tau_curve
from grpo_gui.store.records import Float64Array, Int64Array
from grpo_gui.ui.formatting import percent, significant
from grpo_gui.ui.models.rating_queue import RatingLibrary
from grpo_gui.ui.models.rating_slots import SLOT_KEYS

PACE_S = 600.0  # ratings a minute are counted over this time
_LEAST_S = 60.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line of "your consistency": `state` is good, warn or plain (too little to tell)."""

    label: str
    value: str
    state: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class TauCurve:
    """Kendall's tau between the program and the person by step, on the audit sample, with an interval."""

    steps: Int64Array
    tau: Float64Array
    low: Float64Array
    high: Float64Array


@dataclass(frozen=True, slots=True)
class RatingPicture:
    """The whole column. `pace` is ratings a minute, None without recent ones."""

    progress: RatingProgress
    checks: tuple[Check, ...]
    curve: TauCurve
    pace: float | None
    has_program: bool  # the run has another reward than the human one


def rating_picture(
    library: RatingLibrary, queue: Queue, rules: RatingRules, rater: str, awaited: tuple[int, int] | None
) -> RatingPicture:
    """Make the column for a rater from what is known of the run."""
    log = library.log
    points = tau_curve(audit_taus(log, library.groups))
    curve = TauCurve(
        np.array([point.step for point in points], dtype=np.int64),
        *(np.array([getattr(point, name) for point in points]) for name in ("mean", "low", "high")),
    )
    return RatingPicture(
        progress=rating_progress(log, rules, rater, waiting=len(queue.unrated), awaited=awaited),
        checks=checks(rater_quality(log, rater)),
        curve=curve,
        pace=pace(log, rater, time.time()),
        has_program=not rules.is_alone,
    )


def pace(log: RatingLog, rater: str, now_s: float) -> float | None:
    """Ratings a minute over the last ten minutes, or since the first of them."""
    times = [entry.event.submitted_s for entry in log.standing(rater) if entry.event.first_key_s is not None]
    recent = [time_s for time_s in times if now_s - PACE_S <= time_s <= now_s]
    if not recent:
        return None
    return 60 * len(recent) / max(now_s - recent[0], _LEAST_S)


def checks(quality: RaterQuality) -> tuple[Check, ...]:
    """The four lines on how consistent a rater is."""
    return (_retest(quality), _slots(quality), _haste(quality), _line(quality))


def _retest(quality: RaterQuality) -> Check:
    retest = quality.retest
    tooltip = (
        "One group in twenty is shown a second time. The share of pairs of answers that you order alike both times."
    )
    if retest.agreement is None:
        return Check("Same order on repeats", "none yet", "plain", tooltip)
    state = "plain" if retest.repeats < FEWEST_REPEATS else "good" if retest.bound > 0.5 else "warn"
    return Check("Same order on repeats", f"{percent(retest.agreement, 0)} of {retest.repeats}", state, tooltip)


def _slots(quality: RaterQuality) -> Check:
    tooltip = (
        "Chi-square test that you choose no place on the screen more often than the others; the answers are shuffled, "
        f"so that a favoured place is a habit. It needs {FEWEST_PICKS} choices."
    )
    if quality.slot_p is None:
        return Check("Slot bias", "too few to tell", "plain", tooltip)
    p = f"p = {significant(quality.slot_p, 2)}"
    if quality.is_slot_biased and quality.favourite_slot is not None:
        return Check("Slot bias", f"card {SLOT_KEYS[quality.favourite_slot]}, {p}", "warn", tooltip)
    return Check("Slot bias", f"none, {p}", "good", tooltip)


def _haste(quality: RaterQuality) -> Check:
    tooltip = f"Groups whose first key came within {HASTE_S:g} s, sooner than anybody can read them."
    state = "plain" if not quality.ratings else "warn" if quality.too_fast else "good"
    return Check(f"Faster than {HASTE_S:g} s", str(quality.too_fast), state, tooltip)


def _line(quality: RaterQuality) -> Check:
    tooltip = f"The longest row of ratings that gave every place on the screen the same; {LONG_LINE} are a habit."
    if quality.is_straight_lining:
        return Check("Same keys in a row", str(quality.longest_line), "warn", tooltip)
    return Check("Same keys in a row", str(quality.longest_line), "good" if quality.ratings else "plain", tooltip)
