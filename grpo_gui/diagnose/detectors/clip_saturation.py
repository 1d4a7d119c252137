"""C18: clipping throws much of each update away."""

from collections.abc import Sequence

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.sample_distances import ratio_gap
from grpo_gui.diagnose.statistics import median
from grpo_gui.diagnose.text import percent, times

STEPS = 20
FEWEST = 10
THRESHOLD = 0.2
SEQUENCE_THRESHOLD = 0.8  # GSPO clips whole completions in a very narrow range, by design
SEVERE = 0.4
ONE_SIDED = 3.0
ONE_SIDED_FROM = 0.02


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Median clipped share of the last 20 steps >= .2 (.8 at sequence level).

    With one inner update per rollout nothing can be clipped, and that is said instead. Whether the low side is
    clipped three times as much as the high side (and at least .02) goes into the sentence. Source: facts of the
    project, C18; PPO (1707.06347), DAPO (2503.14476) section 3.1, GSPO (2507.18071) section 5.
    """
    values = history.tail("clip_ratio/region_mean", STEPS)
    if facts.num_iterations == 1 and not values.any():
        return Missing.BY_CONSTRUCTION
    if len(values) < FEWEST:
        return Missing.NOT_ENOUGH
    threshold = SEQUENCE_THRESHOLD if facts.importance_sampling_level == "sequence" else THRESHOLD
    level = median(values)
    if level < threshold:
        return Reading(False, level, threshold)
    low, high = history.tail("clip_ratio/low_mean", STEPS), history.tail("clip_ratio/high_mean", STEPS)
    sides = {"low": median(low), "high": median(high)} if low.size and high.size else {}
    severity = Severity.SEVERE if level >= 2 * threshold else Severity.WARNING
    return Reading(True, level, threshold, severity, sides)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Names the side, where it is one-sided."""
    headline = f"{percent(reading.value)} of each update is thrown away by clipping."
    detail = (
        "Clipping stops a word from becoming much likelier or unlikelier in one step. Here it happens to "
        f"{percent(reading.value)} of all words (median of {STEPS} steps; the alarm is at "
        f"{percent(reading.threshold)}): the updates are larger than the limit that was set for them."
    )
    causes = ["The learning rate is too high, or too many updates are made with the same samples."]
    low, high = reading.numbers.get("low"), reading.numbers.get("high")
    if low is not None and high is not None and low >= ONE_SIDED_FROM and low >= ONE_SIDED * high:
        much = times(low / high) if high > 0 else "far"
        causes.append(
            f"It is one-sided: making words unlikelier is clipped {much} more often than making them likelier. A "
            "higher upper limit (epsilon_high 0.28) gives new words room."
        )
    return Words(headline, detail, lower_learning_rate(facts), tuple(causes))


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """The completions whose words changed most."""
    return completions_by(steps, ratio_gap)


DETECTOR = Detector(
    name="clip_saturation",
    title="Updates too large",
    needs=("clip_ratio/region_mean",),
    check=check,
    words=words,
    evidence=evidence,
    roots=("reward_falls", "fresh_ratio", "wrong_mask", "kl_runaway", "length_pays"),
    measure="share of clipped tokens, median of 20 steps",
)
