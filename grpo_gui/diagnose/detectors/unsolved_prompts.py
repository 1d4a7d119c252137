"""B12: prompts that are tried again and again and never solved."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import percent

STEPS = 10
THRESHOLD = 0.5


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """At least half of the prompts tried often enough have posterior mean Beta(1+k, 1+n-k) below .05.

    `prompts/never_solved` is that share among the prompts with at least 32 judged answers; a task with ever new
    prompts has none of them. Source: facts of the project, B12.
    """
    values = history.tail("prompts/never_solved", STEPS)
    if len(values) < STEPS:
        return Missing.NOT_ENOUGH
    share = float(values[-1])
    return Reading(share >= THRESHOLD, share, THRESHOLD, Severity.NOTE)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says how many."""
    headline = f"{percent(reading.value)} of the prompts have never been solved."
    detail = (
        "Each of them was tried at least 32 times without a single right answer, so they take time and teach nothing "
        f"(the alarm is at {percent(reading.threshold)})."
    )
    action = Action(
        "Leave out the never-solved prompts (the page behind “Details” lists them), or check their answers.",
        "prompt_file",
    )
    return Words(headline, detail, action, ("They are too hard for this model, or their stored answer is wrong.",))


DETECTOR = Detector(
    name="unsolved_prompts",
    title="Never-solved prompts",
    needs=("prompts/never_solved",),
    check=check,
    words=words,
    roots=(
        "reward_falls",
        "dead_groups",
        "wrong_mask",
        "constant_reward",
        "truncation",
        "kl_runaway",
        "length_pays",
        "copies",
    ),
    measure="share of often tried prompts that were never solved",
)
