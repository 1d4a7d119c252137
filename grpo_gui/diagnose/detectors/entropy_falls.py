"""C15: the model stops trying different words before it has learned the task."""

import math

import numpy as np

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import Float64Array, History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import fitted_line, mann_kendall, mean_of, median
from grpo_gui.diagnose.text import number, percent, steps

WINDOW = 40
FIRST = 20
NOW_STEPS = 5
FALLEN = 0.75
GONE = 0.1
SOON = 3 * WINDOW
P = 1e-3
REWARD_P = 0.01
RAISED_EPSILON_HIGH = 0.28
PATIENCE = 2.0  # times the time that is left, in which a rising reward may arrive


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Entropy falls towards nothing, and the reward will not have arrived by then.

    h0 is the median of the first 20. Falling: Mann-Kendall over 40 steps with p < 1e-3, now (mean of 5) below
    .75 h0, and along its line (in logarithms, since it decays) below .1 h0 in less than 120 steps. Gone: below .1 h0.
    No alarm while the reward rises (p < .01) so fast that it reaches its ceiling before twice that time: then the
    model is getting sure because it is right. Where only people judge there is no such curve, and only what is gone is
    an alarm. Source: facts of the project, C15, with the last two rules added because each quickly learned task would
    raise an alarm.
    """
    values = history.tail("entropy", WINDOW)
    if len(values) < WINDOW:
        return Missing.NOT_ENOUGH
    start = median(history.head("entropy", FIRST))
    now = mean_of(values[-NOW_STEPS:])
    share = now / start if start > 0 else 1.0
    if share >= FALLEN:
        return Reading(False, share, FALLEN)
    left = _steps_left(values, now, start)
    if left >= SOON or (left > 0 and not _falls(values)):
        return Reading(False, share, FALLEN)
    arrives = _reward_arrives(history, facts)
    return Reading(
        alarm=arrives > PATIENCE * max(left, WINDOW / 2) and not (left > 0 and facts.only_people_judge),
        value=share,
        threshold=GONE if left == 0 else FALLEN,
        severity=Severity.SEVERE if left == 0 else Severity.WARNING,
        numbers={"now": now, "start": start, "left": left},
    )


def _falls(values: Float64Array) -> bool:
    trend = mann_kendall(values)
    return trend.z < 0 and trend.p < P


def _steps_left(values: Float64Array, now: float, start: float) -> float:
    """Steps until .1 of the start at the present rate of decay; 0 when it is below, infinite when it does not fall."""
    if now <= GONE * start:
        return 0.0
    slope = fitted_line(np.log(np.maximum(values, 1e-9))).slope
    return math.log(now / (GONE * start)) / -slope if slope < 0 else math.inf


def _reward_arrives(history: History, facts: RunFacts) -> float:
    """Steps until the reward reaches its ceiling at its present pace; infinite when it does not clearly rise."""
    values = history.tail("reward", WINDOW)
    if len(values) < WINDOW:
        return math.inf
    trend = mann_kendall(values)
    if trend.z <= 0 or trend.p >= REWARD_P:
        return math.inf
    ceiling = facts.reward_ceiling
    if ceiling is None:
        ceiling = max(1.0, float(history.values("reward").max()))
    missing = max(ceiling - mean_of(values[-NOW_STEPS:]), 0.0)
    return missing / fitted_line(values).slope


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says how much is left, and for how long."""
    left = reading.numbers["left"]
    lasts = f" At this pace nearly nothing is left in {steps(left)}." if left > 0 else ""
    headline = f"The model has stopped trying things out: {percent(reading.value)} of its variety is left."
    detail = (
        "Entropy measures how undecided the model is about the next word; without it all answers come out the same "
        f"and there is nothing to learn from. It fell from {number(reading.numbers['start'])} to "
        f"{number(reading.numbers['now'])}, and the reward does not rise fast enough to explain it by learning "
        f"(the alarm is at {percent(reading.threshold)}).{lasts}"
    )
    cause = "The model repeats what was rewarded early on, instead of looking for better answers."
    return Words(headline, detail, _action(facts), (cause,))


def _action(facts: RunFacts) -> Action:
    temperature = facts.temperature
    if temperature is not None and temperature < 1:
        return Action(
            f"Raise the temperature from {number(temperature)} to 1: the model then tries different answers.",
            setting="temperature",
            value=1.0,
            live=True,
        )
    if facts.epsilon_high is not None and facts.epsilon_high < RAISED_EPSILON_HIGH:
        return Action(
            f"Raise epsilon_high, the limit on how much likelier a word may become in one step, from "
            f"{number(facts.epsilon_high)} to {number(RAISED_EPSILON_HIGH)}, so that unlikely words get a chance.",
            setting="epsilon_high",
            value=RAISED_EPSILON_HIGH,
            live=True,
        )
    return lower_learning_rate(facts)


DETECTOR = Detector(
    name="entropy_falls",
    title="Variety is running out",
    needs=("entropy",),
    check=check,
    words=words,
    roots=(
        "reward_falls",
        "not_finite",
        "wrong_mask",
        "kl_runaway",
        "length_pays",
        "copies",
        "clip_saturation",
        "truncation",
        "constant_reward",
        "dead_groups",
    ),
    hidden_when_solved=True,
    measure="entropy as a share of its first 20 steps",
)
