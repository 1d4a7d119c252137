"""E: signs that ratings are given carelessly: repeats differ, a place is favoured, one key again and again, haste."""

import numpy as np

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import chi_square_p, mean_of
from grpo_gui.diagnose.text import number, percent

FEWEST_REPEATS = 5
AGREEMENT = 0.65
FEWEST_PICKS = 20
SLOT_P = 0.01
SAME_KEY = 10
HASTE_S = 0.4
HASTE_OF = 10


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Retest agreement < 65 % (5 repeats), slot bias p < .01 (20 picks), one key ten times, decisions < .4 s.

    Series, one value a rating: `ratings/retest` (share of pairs ordered alike in both ratings of a repeated group),
    `ratings/slot` (shown place of the chosen answer, from 0), `ratings/slots` (places shown), `ratings/key`,
    `ratings/seconds` (first key after showing). Source: facts of the project, E.
    """
    if history.count("ratings/key") < SAME_KEY:
        return Missing.NOT_ENOUGH
    for reading in (_retest(history), _slots(history), _same_key(history), _haste(history)):
        if reading is not None:
            return reading
    return Reading(False, 0.0, 0.0)


def _retest(history: History) -> Reading | None:
    shares = history.values("ratings/retest")
    if len(shares) < FEWEST_REPEATS:
        return None
    mean = mean_of(shares[-20:])
    return Reading(True, mean, AGREEMENT, subject="retest") if mean < AGREEMENT else None


def _slots(history: History) -> Reading | None:
    chosen, shown = history.values("ratings/slot"), history.values("ratings/slots")
    if len(chosen) < FEWEST_PICKS or len(shown) != len(chosen):
        return None
    places = int(shown.max())
    expected = np.array([float((1 / shown[shown > place]).sum()) for place in range(places)])
    counts = np.bincount(chosen.astype(np.int64), minlength=places)[:places].astype(np.float64)
    p = chi_square_p(counts, np.maximum(expected, 1e-9)) if places > 1 else 1.0
    if p >= SLOT_P:
        return None
    favourite = int((counts - expected).argmax())
    return Reading(
        True, p, SLOT_P, numbers={"slot": favourite + 1.0, "share": counts[favourite] / counts.sum()}, subject="slot"
    )


def _same_key(history: History) -> Reading | None:
    keys = history.tail("ratings/key", SAME_KEY)
    return (
        Reading(True, float(SAME_KEY), float(SAME_KEY), subject="key")
        if float(keys.max()) == float(keys.min())
        else None
    )


def _haste(history: History) -> Reading | None:
    seconds = history.tail("ratings/seconds", HASTE_OF)
    if len(seconds) < HASTE_OF:
        return None
    middle = float(np.median(seconds))
    return Reading(True, middle, HASTE_S, subject="haste") if middle < HASTE_S else None


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says which of the four it is."""
    if reading.subject == "retest":
        headline = f"The same answers are rated differently the second time: {percent(reading.value)} agree."
        detail = f"Below {percent(reading.threshold)} ratings carry hardly more than chance."
        advice = "Rate fewer groups, and agree on what makes an answer better before going on."
    elif reading.subject == "slot":
        headline = (
            f"Place {number(reading.numbers['slot'])} is chosen in {percent(reading.numbers['share'])} of the ratings."
        )
        detail = (
            "Answers are shown in random order, so every place should win equally often. Chance alone does "
            "this less than once in a hundred times."
        )
        advice = "Read all answers before choosing."
    elif reading.subject == "key":
        headline = f"The same key was pressed {number(reading.value)} times in a row."
        detail = "Answers are shown in random order, so this is hardly ever right."
        advice = "Take a break, and look at the last ratings again (Backspace goes back)."
    else:
        headline = f"Ratings take {number(reading.value)} s each, too little to read the answers."
        detail = f"Half of the last {HASTE_OF} took no longer; the alarm is below {number(reading.threshold)} s."
        advice = "Take a break, and look at the last ratings again (Backspace goes back)."
    return Words(headline, detail, Action(advice), ())


DETECTOR = Detector(
    name="rater_slips",
    title="Careless ratings",
    needs=("ratings/key",),
    check=check,
    words=words,
    hold=1,
    measure="agreement, chance, equal keys in a row, or seconds",
)
