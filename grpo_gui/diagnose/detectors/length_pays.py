"""D23: longer answers earn more, and the answers get longer."""

from collections.abc import Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import mean_of, median, sign_test_p
from grpo_gui.diagnose.text import number, percent

WINDOW = 40
FIRST = 20
NOW_STEPS = 5
FEWEST = 10
RHO = 0.3
P = 0.01
GROWN = 1.25


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Within-group Spearman correlation of length and reward, over the groups of the last 40 steps.

    Alarm: the sign test over groups has p < .01, the mean |rho| > .3 with rho above 0, and answers are (mean of 5
    steps) 25 % longer than in the first 20 steps. The last rule is added to the facts' D23: in many tasks longer
    answers are better by right, and it only harms when the length itself is what grows.
    """
    lengths = history.values("completions/mean_length")
    positive = int(history.tail("samples/length_rho_positive", WINDOW).sum())
    negative = int(history.tail("samples/length_rho_negative", WINDOW).sum())
    count = positive + negative
    if len(lengths) < FEWEST or count < 8:
        return Missing.NOT_ENOUGH
    first = median(lengths[:FIRST])
    if not first > 0:  # empty answers cannot grow by a share
        return Missing.NOT_ENOUGH
    rho = float(history.tail("samples/length_rho_sum", WINDOW).sum()) / count
    growth = mean_of(lengths[-NOW_STEPS:]) / first
    alarm = growth >= GROWN and rho > RHO and sign_test_p(positive, negative) < P
    return Reading(alarm, rho, RHO, Severity.SEVERE, {"growth": growth, "share": positive / count})


def words(reading: Reading, facts: RunFacts) -> Words:
    """Names the sources that pay for length where they are known."""
    headline = (
        f"The reward pays for length: answers are {percent(reading.numbers['growth'] - 1)} longer than at the start."
    )
    detail = (
        f"In {percent(reading.numbers['share'])} of the groups the longer answers got more reward (rank correlation "
        f"{number(reading.value)}, where 1 means always and 0 that length makes no difference; the alarm is at "
        f"{number(reading.threshold)}), and the answers have been growing since. A model that is paid for length "
        "learns to write much, not to be right."
    )
    sources = [name for name, kind, _ in facts.sources if "length" in kind or "length" in name]
    named = f" ({', '.join(sources)})" if sources else ""
    action = Action(
        f"Change the reward{named} so that a longer answer does not earn more by itself, and begin again from a "
        "snapshot from before this step."
    )
    return Words(headline, detail, action, ("Some part of the reward grows with the length of the answer.",))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """The best-paid completions, the longest of them first."""
    return completions_by(steps, lambda one: None if one.reward is None else one.advantage * len(one.token_ids))


DETECTOR = Detector(
    name="length_pays",
    title="Paid for length",
    needs=("completions/mean_length", "samples/length_rho_positive"),
    check=check,
    words=words,
    evidence=evidence,
    hold=3,
    roots=("wrong_mask",),
    measure="rank correlation of length and reward inside groups, mean of 40 steps",
)
