"""C16: the model becomes more and more undecided."""

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import mann_kendall, mean_of, median
from grpo_gui.diagnose.text import number, times

WINDOW = 40
FIRST = 20
NOW_STEPS = 5
RISEN = 1.5
P = 1e-3


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Entropy rises: Mann-Kendall over 40 steps with p < 1e-3, and now (mean of 5) > 1.5 times the start.

    The start is the largest of the first 20, because a model that learns quickly loses most of its entropy in the
    first few steps and may get some of it back. Source: facts of the project, C16.
    """
    values = history.tail("entropy", WINDOW)
    if len(values) < WINDOW:
        return Missing.NOT_ENOUGH
    first = history.head("entropy", FIRST)
    start = max(median(first), mean_of(first[:NOW_STEPS]))
    now = mean_of(values[-NOW_STEPS:])
    share = now / start if start > 0 else 1.0
    if share <= RISEN:
        return Reading(False, share, RISEN)
    trend = mann_kendall(values)
    return Reading(trend.z > 0 and trend.p < P, share, RISEN, numbers={"now": now, "start": start})


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says how much."""
    headline = f"The model becomes undecided: {times(reading.value)} its variety at the start."
    detail = (
        "Entropy measures how undecided the model is about the next word. It rose from "
        f"{number(reading.numbers['start'])} to {number(reading.numbers['now'])} (the alarm is at "
        f"{times(reading.threshold)} the start) and still rises: the answers drift towards chance."
    )
    cause = "The updates push words down without pushing better ones up, often because the learning rate is too high."
    return Words(headline, detail, lower_learning_rate(facts), (cause,))


DETECTOR = Detector(
    name="entropy_rises",
    title="Drifting towards chance",
    needs=("entropy",),
    check=check,
    words=words,
    roots=("reward_falls", "not_finite", "wrong_mask", "kl_runaway", "length_pays", "truncation", "clip_saturation"),
    hidden_when_solved=True,
    measure="entropy as a share of its start",
)
