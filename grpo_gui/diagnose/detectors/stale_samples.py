"""C19: the model has left its samples behind."""

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Words
from grpo_gui.diagnose.statistics import mean_of
from grpo_gui.diagnose.text import percent

STEPS = 10
GAP = 0.1
ESS = 0.5


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """|mean ratio - 1| > .1 and effective share of the samples (sum r)^2 / (n sum r^2) < .5, means of 10 steps.

    Source: facts of the project, C19; Kish's effective sample size.
    """
    ratios = history.tail("samples/ratio_mean", STEPS)
    if len(ratios) < STEPS:
        return Missing.NOT_ENOUGH
    gap = abs(mean_of(ratios) - 1.0)
    share = mean_of(history.tail("samples/effective_share", STEPS))
    return Reading(gap > GAP and share < ESS, share, ESS, numbers={"gap": gap})


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says how much they still count."""
    headline = f"The model has moved on: its samples count for only {percent(reading.value)} of their number."
    detail = (
        "After sampling, the model changed so much that it would hardly give these answers any more (on average its "
        f"probabilities for them are off by {percent(reading.numbers['gap'])}; the alarm is at {percent(GAP)}, where "
        f"the samples count for less than {percent(ESS)}). It learns from answers that are not its own."
    )
    cause = "Too many updates with the same samples, too high a learning rate, or samples that arrive late."
    return Words(headline, detail, lower_learning_rate(facts), (cause,))


DETECTOR = Detector(
    name="stale_samples",
    title="Outdated samples",
    needs=("samples/ratio_mean", "samples/effective_share"),
    check=check,
    words=words,
    roots=("reward_falls", "fresh_ratio", "wrong_mask", "kl_runaway", "clip_saturation", "length_pays"),
    measure="share of the samples that still counts, mean of 10 steps",
)
