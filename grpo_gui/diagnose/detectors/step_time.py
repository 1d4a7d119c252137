"""F: steps take longer and longer."""

import math

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import fitted_line, median
from grpo_gui.diagnose.text import number, times

WINDOW = 60
FIRST = 40
NOW_STEPS = 10
SLOWER = 1.25
STEADY = 0.75


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Step time, median of 10, > 1.25 times that of the first 40, along a steady line over the last 60 (R^2 >= .75).

    A machine that other programs use jumps, which a line explains badly; a leak or a growing file rises steadily.
    Source: facts of the project, F; the rule is ours.
    """
    values = history.tail("step_time", WINDOW)
    if len(values) < WINDOW:
        return Missing.NOT_ENOUGH
    now, start = median(values[-NOW_STEPS:]), median(history.head("step_time", FIRST))
    factor = now / start if start > 0 else 1.0
    if factor <= SLOWER:
        return Reading(False, factor, SLOWER)
    line = fitted_line(values)
    steady = line.slope > 0 and line.r_squared >= STEADY
    doubles = now / line.slope if line.slope > 0 else math.inf
    return Reading(steady, factor, SLOWER, numbers={"now": now, "start": start, "doubles": doubles})


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says how slow, and where it leads."""
    headline = f"Steps take {times(reading.value)} as long as at the start, and it gets worse."
    detail = (
        f"A step takes {number(reading.numbers['now'])} s instead of {number(reading.numbers['start'])} s. At this "
        f"pace it takes twice as long again in {reading.numbers['doubles']:.0f} steps. The alarm is at "
        f"{number(reading.threshold)} times."
    )
    action = Action(
        "Look at which part of the step grows (the plot of step time); if it is none of them, restart the program: "
        "the run goes on where it stands."
    )
    return Words(headline, detail, action, ("Answers get longer, memory runs short, or something keeps growing.",))


DETECTOR = Detector(
    name="step_time",
    title="Steps get slower",
    needs=("step_time",),
    check=check,
    words=words,
    roots=("length_pays", "truncation", "slow_reward"),
    measure="step time against its start",
)
