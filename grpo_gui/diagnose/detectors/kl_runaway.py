"""C17: the model runs away from where it started."""

from collections.abc import Sequence

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.sample_distances import kl_mean
from grpo_gui.diagnose.statistics import mann_kendall, median, theil_sen
from grpo_gui.diagnose.text import number, times

WINDOW = 40
LEVEL = 1.0
LEVEL_STEPS = 20
LEVEL_FEWEST = 10
NOW_STEPS = 5
FLOOR = 0.1
P = 1e-4


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """KL speeds up, or stands above 1.

    Speeds up: median of the last 5 > .1, Mann-Kendall over 40 steps rising with p < 1e-4, and the rise per step
    (Theil-Sen) more than twice that of the 40 steps before. Level: median of the last 20 (at least 10) > 1. Medians,
    because the estimate of a single step is thrown up by single tokens. Source: facts of the project, C17.
    """
    values = history.tail("kl", 2 * WINDOW)
    if len(values) < LEVEL_FEWEST:
        return Missing.NOT_ENOUGH
    level = median(values[-LEVEL_STEPS:])
    now = median(values[-NOW_STEPS:])
    if level > LEVEL:
        return Reading(True, level, LEVEL, Severity.SEVERE, {"now": now})
    if len(values) < 2 * WINDOW or now <= FLOOR:
        return Reading(False, level, LEVEL)
    trend = mann_kendall(values[-WINDOW:])
    if trend.z <= 0 or trend.p >= P:
        return Reading(False, level, LEVEL)
    slope, before = theil_sen(values[-WINDOW:]), theil_sen(values[:WINDOW])
    speeding = slope > 2 * max(before, 0.0)
    return Reading(speeding, level, LEVEL, Severity.WARNING, {"now": now, "slope": slope, "before": max(before, 0.0)})


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says how far, or how fast."""
    now = number(reading.numbers["now"])
    if "slope" in reading.numbers:
        before = reading.numbers["before"]
        faster = times(reading.numbers["slope"] / before) + " as fast as" if before > 0 else "while it stood still in"
        headline = f"The model moves away from where it started, faster and faster (KL {now})."
        detail = (
            "KL measures how differently the model answers from the one this run began with; 0 is no difference. Over "
            f"the last {WINDOW} steps it rose {faster} the {WINDOW} steps before."
        )
    else:
        headline = f"The model has moved very far from where it started (KL {number(reading.value)})."
        detail = (
            "KL measures how differently the model answers from the one this run began with; 0 is no difference, and "
            f"above {number(LEVEL)} little of what it could do before is usually left."
        )
    cause = "The learning rate is so high that each update overshoots."
    if facts.beta == 0:
        cause = (
            "The learning rate is so high that each update overshoots, and nothing holds the model back (beta is 0)."
        )
    return Words(headline, detail, lower_learning_rate(facts, go_back=True), (cause,))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """The completions furthest from the reference policy."""
    return completions_by(steps, kl_mean)


DETECTOR = Detector(
    name="kl_runaway",
    title="Running away",
    needs=("kl",),
    check=check,
    words=words,
    evidence=evidence,
    hold=5,
    roots=("reward_falls", "not_finite", "wrong_mask", "length_pays", "auxiliary_reward", "copies"),
    measure="KL to the starting model, median of 20 steps",
)
