"""C22: single steps with a gradient many times the usual one."""

import numpy as np

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.detectors import dead_steps
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import Float64Array, History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import median
from grpo_gui.diagnose.text import number, times

WINDOW = 80
FEWEST = 20
DEVIATIONS = 8.0
FACTOR = 4.0
AMONG = 100
TWICE = 2
UPPER = 0.75


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Gradient norm > median + 8 MAD and > 4 times the upper quartile of the 80 before, twice in 100 steps.

    The upper quartile in place of the facts' median (they differ little unless many steps have no gradient at all),
    and nothing is said while the norms fall into two clusters (`dead_steps`). Source: facts of the project, C22.
    """
    norms = history.tail("grad_norm", WINDOW + 1)
    if len(norms) <= FEWEST:
        return Missing.NOT_ENOUGH
    before, newest = norms[:-1], float(norms[-1])
    usual = median(before)
    limit = max(usual + DEVIATIONS * median(np.abs(before - usual)), FACTOR * _quantile(before, UPPER))
    height = newest / limit if limit > 0 else 0.0
    earlier = int((history.tail("measure/gradient_spikes", AMONG - 1) > 1).sum())
    count = earlier + (height > 1)
    alarm = height > 1 and count >= TWICE and not dead_steps.has_two_clusters(history)
    return Reading(alarm, height, 1.0, numbers={"norm": newest, "usual": usual, "count": float(count)})


def _quantile(values: Float64Array, share: float) -> float:
    return float(np.sort(values)[int(share * (len(values) - 1))])


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says how high and how often."""
    usual, norm = reading.numbers["usual"], reading.numbers["norm"]
    headline = f"Single steps push the model {times(norm / usual) if usual > 0 else 'far'} as hard as usual."
    detail = (
        f"The gradient says how hard a step pushes. {reading.numbers['count']:.0f} of the last {AMONG} steps stood "
        f"out; the newest has {number(norm)}, the usual one {number(usual)}. One such step can undo many good ones."
    )
    cause = "A few extreme samples dominate their step, or the learning rate is too high."
    return Words(headline, detail, lower_learning_rate(facts), (cause,))


DETECTOR = Detector(
    name="gradient_spikes",
    title="Jolts",
    needs=("grad_norm",),
    check=check,
    words=words,
    hold=1,
    roots=(
        "reward_falls",
        "not_finite",
        "wrong_mask",
        "kl_runaway",
        "length_pays",
        "dead_steps",
        "dead_groups",
        "copies",
        "clip_saturation",
    ),
    hidden_when_solved=True,
    measure="gradient norm against the limit",
)
