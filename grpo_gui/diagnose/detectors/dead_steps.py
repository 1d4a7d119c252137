"""B11: whole steps in which nothing is learned."""

import numpy as np

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Words
from grpo_gui.diagnose.text import percent

WINDOW = 80
GAP = 0.7  # decades
LOWEST, HIGHEST = 0.4, 0.9
FEWEST_OF_EACH = 5


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """log10 of the last 80 gradient norms falls into two clusters: a gap >= .7 decades, the lower share .4 to .9.

    Works with a KL term as well, whose gradient never is exactly 0. The lower cluster must lie below the usual norm of
    the first 20 steps, since otherwise the upper one are spikes. Source: facts of the project, B11.
    """
    if history.count("grad_norm") < WINDOW:
        return Missing.NOT_ENOUGH
    share = _lower_share(history)
    return Reading(share >= LOWEST, share, LOWEST)


def has_two_clusters(history: History) -> bool:
    """Whether the newest norms fall into two clusters, also before there are 80."""
    return _lower_share(history) >= LOWEST


def _lower_share(history: History) -> float:
    """Share of the lower cluster, 0 where there are no two."""
    logs = np.sort(np.log10(np.maximum(history.tail("grad_norm", WINDOW), 1e-12)))
    if len(logs) < 4 * FEWEST_OF_EACH:
        return 0.0
    gaps = np.diff(logs)
    first, last = max(FEWEST_OF_EACH, round(LOWEST * len(logs))), min(round(HIGHEST * len(logs)), len(logs) - 2)
    inside = gaps[first - 1 : last]
    if not inside.size or float(inside.max()) < GAP:
        return 0.0
    count = first + int(inside.argmax())
    start = float(np.median(np.log10(np.maximum(history.head("grad_norm", 20), 1e-12))))
    return count / len(logs) if float(np.median(logs[:count])) < start - GAP else 0.0


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says how many steps."""
    headline = f"In {percent(reading.value)} of the last {WINDOW} steps nothing was learned at all."
    detail = (
        "The gradient says how hard a step pushes. In these steps it is at least five times smaller than in the "
        "others: all groups had equal rewards, and only the pull towards the starting model was left. The "
        f"alarm is at {percent(reading.threshold)}."
    )
    action = Action("Take more prompts a step (prompts_per_step), or prompts of other difficulty.", "prompts_per_step")
    return Words(
        headline, detail, action, ("There are too few prompts a step that are neither always right nor always wrong.",)
    )


DETECTOR = Detector(
    name="dead_steps",
    title="Steps without effect",
    needs=("grad_norm",),
    check=check,
    words=words,
    roots=(
        "reward_falls",
        "dead_groups",
        "wrong_mask",
        "constant_reward",
        "copies",
        "truncation",
        "length_pays",
        "kl_runaway",
    ),
    hidden_when_solved=True,
    measure="share of steps with hardly any gradient",
)
