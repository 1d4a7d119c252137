"""C18: clipping throws much of each update away."""

from collections.abc import Sequence

from grpo_gui.diagnose.actions import lower_learning_rate
from grpo_gui.diagnose.evidence import SampleRef, StepGroups, completions_by
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.sample_distances import ratio_gap
from grpo_gui.diagnose.statistics import median
from grpo_gui.diagnose.text import number, percent, times

STEPS = 20
FEWEST = 10
THRESHOLD = 0.2
SEQUENCE_THRESHOLD = 0.8  # GSPO clips whole completions in a very narrow range, by design
SEVERE = 0.4
ONE_SIDED = 4.0
ONE_SIDED_FROM = 0.05
RAISED_EPSILON_HIGH = 0.28


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Median clipped share of the last 20 steps >= .2 (.8 at sequence level), or one-sided: low >= .05 and >= 4 high.

    With one inner update per rollout nothing can be clipped, and that is said instead. The facts, C18, call low >= .02
    and >= 3 high one-sided, which the first steps of quickly learned tasks reach. Source: PPO (1707.06347), DAPO
    (2503.14476) section 3.1, GSPO (2507.18071) section 5.
    """
    values = history.tail("clip_ratio/region_mean", STEPS)
    if facts.num_iterations == 1 and not values.any():
        return Missing.BY_CONSTRUCTION
    if len(values) < FEWEST:
        return Missing.NOT_ENOUGH
    threshold = SEQUENCE_THRESHOLD if facts.importance_sampling_level == "sequence" else THRESHOLD
    level = median(values)
    lows, highs = history.tail("clip_ratio/low_mean", STEPS), history.tail("clip_ratio/high_mean", STEPS)
    sides = {"low": median(lows), "high": median(highs)} if lows.size and highs.size else {}
    one_sided = bool(sides) and sides["low"] >= max(ONE_SIDED_FROM, ONE_SIDED * sides["high"])
    if level >= threshold:
        severity = Severity.SEVERE if level >= 2 * threshold else Severity.WARNING
        return Reading(True, level, threshold, severity, sides)
    if one_sided and threshold == THRESHOLD:
        return Reading(True, sides["low"], ONE_SIDED_FROM, Severity.NOTE, sides, "one-sided")
    return Reading(False, level, threshold)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Names the side, where it is one-sided."""
    low, high = reading.numbers.get("low", 0.0), reading.numbers.get("high", 0.0)
    much = times(low / high) if high > 0 else "far"
    if reading.subject == "one-sided":
        headline = f"Words are pushed down {much} more often than up."
        detail = (
            "Clipping stops a word from becoming much likelier or unlikelier in one step. It stops "
            f"{percent(low)} of all words from falling further, but only {percent(high)} from rising (medians of "
            f"{STEPS} steps; the alarm is at {percent(ONE_SIDED_FROM)} and {number(ONE_SIDED)} times). New words "
            "hardly get a chance."
        )
        action = Action(
            f"Raise epsilon_high, the limit on how much likelier a word may become in one step, to "
            f"{RAISED_EPSILON_HIGH}, a common value.",
            setting="epsilon_high",
            value=RAISED_EPSILON_HIGH,
            live=True,
        )
        cause = "The limits are the same on both sides, which favours what is likely already."
        return Words(headline, detail, action, (cause,))
    headline = f"{percent(reading.value)} of each update is thrown away by clipping."
    detail = (
        "Clipping stops a word from becoming much likelier or unlikelier in one step. Here it happens to "
        f"{percent(reading.value)} of all words (median of {STEPS} steps; the alarm is at "
        f"{percent(reading.threshold)}): the updates are larger than the limit that was set for them."
    )
    causes = ["The learning rate is too high, or too many updates are made with the same samples."]
    if low >= max(ONE_SIDED_FROM, ONE_SIDED * high):
        causes.append(f"It is one-sided: words are pushed down {much} more often than up.")
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
    roots=("reward_falls", "fresh_ratio", "wrong_mask", "kl_runaway", "length_pays", "entropy_falls"),
    measure="share of clipped tokens, median of 20 steps",
)
