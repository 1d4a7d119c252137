"""D: answers get longer and longer. Not in the facts' list; it needs no samples, where `length_pays` does."""

from collections.abc import Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import fitted_line, mann_kendall, mean_of, median, student_p
from grpo_gui.diagnose.text import number, percent

WINDOW = 40
FIRST = 20
NOW_STEPS = 5
GROWN = 1.4
P = 1e-4
EVALUATIONS = 6
HELD_OUT_P = 0.05


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Mean length, mean of 5 steps, > 1.4 times the first 20, rising over 40 steps (Mann-Kendall, p < 1e-4).

    No alarm while held-out accuracy rises over its last 6 evaluations (p < .05): then the model learns to think
    longer. The rule is ours.
    """
    lengths = history.tail("completions/mean_length", WINDOW)
    if len(lengths) < WINDOW:
        return Missing.NOT_ENOUGH
    start = median(history.head("completions/mean_length", FIRST))
    now = mean_of(lengths[-NOW_STEPS:])
    growth = now / start if start > 0 else 1.0
    if growth <= GROWN:
        return Reading(False, growth, GROWN)
    trend = mann_kendall(lengths)
    alarm = trend.z > 0 and trend.p < P and not _held_out_rises(history)
    return Reading(alarm, growth, GROWN, numbers={"start": start, "now": now})


def _held_out_rises(history: History) -> bool:
    accuracy = history.tail("eval/accuracy", EVALUATIONS)
    if len(accuracy) < EVALUATIONS:
        return False
    line = fitted_line(accuracy)
    return line.slope > 0 and (line.error <= 0 or student_p(line.slope / line.error, EVALUATIONS - 2) < HELD_OUT_P)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says from what to what, and how near the limit is."""
    start, now = reading.numbers["start"], reading.numbers["now"]
    headline = f"Answers are {percent(now / start - 1)} longer than at the start, and they still grow."
    limit = facts.max_completion_length
    room = "" if limit is None else f" At {limit} tokens they are cut off."
    detail = (
        f"An answer had {number(start)} tokens (pieces of words) on average in the first {FIRST} steps and has "
        f"{number(now)} now, without the model getting visibly better on unseen prompts (the alarm is at "
        f"{percent(reading.threshold - 1)} longer).{room}"
    )
    action = Action(
        "Read the longest answers of the last steps: if they only fill space, let the reward take something off for "
        "length."
    )
    return Words(
        headline, detail, action, ("Longer answers earn more reward, or the model no longer ends its answers.",)
    )


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """The longest completions."""
    return completions_by(steps, lambda one: float(len(one.token_ids)))


DETECTOR = Detector(
    name="length_grows",
    title="Answers keep growing",
    needs=("completions/mean_length",),
    check=check,
    words=words,
    evidence=evidence,
    roots=("length_pays", "wrong_mask", "reward_falls", "kl_runaway", "step_time", "auxiliary_reward"),
    hidden_when_solved=True,
    measure="mean length against the first 20 steps",
)
