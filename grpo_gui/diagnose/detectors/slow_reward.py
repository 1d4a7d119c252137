"""A8: judging the answers has become many times slower."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import median
from grpo_gui.diagnose.text import number, times

STEPS = 5
FEWEST = 30
FACTOR = 10.0
SHARE = 0.2


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Time of the rewards: median of the last 5 steps > 10 times the median so far, and > .2 of the step's time.

    The second rule keeps microseconds of a busy machine out. Source: facts of the project, A8.
    """
    values = history.values("time/reward")
    if len(values) < FEWEST:
        return Missing.NOT_ENOUGH
    newest = median(values[-STEPS:])
    whole = history.tail("step_time", STEPS)
    if newest < SHARE * median(whole):
        return Reading(False, 1.0, FACTOR)
    usual = median(values[:-STEPS])
    factor = newest / usual if usual > 0 else 1.0
    return Reading(factor > FACTOR, factor, FACTOR, numbers={"now": newest, "usual": usual})


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says how slow."""
    headline = f"Judging the answers takes {times(reading.value)} as long as usual."
    detail = (
        f"The rewards of a step take {number(reading.numbers['now'])} s instead of {number(reading.numbers['usual'])} "
        f"s (the alarm is at {times(reading.threshold)})."
    )
    action = Action(
        "Look at what the reward function waits for: a call over the network, a file that grows, a search pattern "
        "that tries too much."
    )
    return Words(headline, detail, action, ("A reward function waits for something, or works on ever more data.",))


DETECTOR = Detector(
    name="slow_reward",
    title="Slow reward",
    needs=("time/reward", "step_time"),
    check=check,
    words=words,
    roots=("length_pays",),
    measure="time of the rewards in multiples of the usual time",
)
