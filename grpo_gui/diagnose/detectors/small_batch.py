"""B13: each update rests on a handful of answers."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import number

STEPS = 20
THRESHOLD = 8.0


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Mean of the last 20 steps of (sum |A|)^2 / sum A^2 < 8: the number of answers that count in an update.

    A run that samples fewer than 16 answers a step, or where only people judge, was made that way and is left alone.
    Source: facts of the project, B13 (the participation ratio).
    """
    if facts.only_people_judge:
        return Missing.BY_CONSTRUCTION
    if (facts.num_generations or 8) * (facts.prompts_per_step or 8) < 2 * THRESHOLD:
        return Missing.BY_CONSTRUCTION
    values = history.tail("samples/effective_batch", STEPS)
    if len(values) < STEPS:
        return Missing.NOT_ENOUGH
    mean = mean_of(values)
    return Reading(mean < THRESHOLD, mean, THRESHOLD)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says how many of how many."""
    total = ""
    if facts.num_generations is not None and facts.prompts_per_step is not None:
        total = f" of {facts.num_generations * facts.prompts_per_step}"
    headline = f"Only about {number(reading.value)}{total} answers count in each update."
    detail = (
        "The others got the same reward as the rest of their group, or nearly so. Updates that rest on fewer than "
        f"{number(THRESHOLD)} answers follow chance more than the task (mean of {STEPS} steps)."
    )
    action = Action("Take more prompts a step (prompts_per_step).", setting="prompts_per_step")
    return Words(headline, detail, action, ("Few groups have answers that differ in reward.",))


DETECTOR = Detector(
    name="small_batch",
    title="Few answers count",
    needs=("samples/effective_batch",),
    check=check,
    words=words,
    roots=(
        "reward_falls",
        "dead_groups",
        "wrong_mask",
        "constant_reward",
        "silent_reward",
        "copies",
        "truncation",
        "length_pays",
        "kl_runaway",
    ),
    hidden_when_solved=True,
    measure="answers that count in an update, mean of 20 steps",
)
