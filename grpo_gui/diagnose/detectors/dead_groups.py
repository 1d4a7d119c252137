"""B9: most groups teach nothing, because all their completions got the same reward."""

from collections.abc import Sequence

from grpo_gui.diagnose.evidence import SampleRef, StepGroups, groups_where, is_dead
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import mann_kendall, mean_of
from grpo_gui.diagnose.text import percent

STEPS = 20
THRESHOLD = 0.5
SEVERE = 0.9
ABOVE_CHANCE = 0.25
PATIENCE = 60
P = 0.05


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Mean share of groups with equal rewards over the last 20 steps >= .5, on 5 steps in a row.

    Where at least half of them are all right, the task is being learned: then it is an alarm only when the reward has
    not risen over the last 60 steps (Mann-Kendall, p < .05).
    With two completions a group, right-or-wrong rewards are equal half of the time at best, so that the threshold
    is a quarter above that best case, 2^(1-G). Source: facts of the project, B9; DAPO (2503.14476) section 3.2.
    """
    dead = history.tail("frac_reward_zero_std", STEPS)
    if len(dead) < STEPS:
        return Missing.NOT_ENOUGH
    mean = mean_of(dead)
    threshold = THRESHOLD
    if facts.num_generations is not None:
        threshold = max(THRESHOLD, 2.0 ** (1 - facts.num_generations) + ABOVE_CHANCE)
    if mean < threshold:
        return Reading(False, mean, threshold)
    numbers = _split(history)
    learning = numbers.get("right", 0.0) >= mean / 2 and _still_rises(history)
    severity = Severity.SEVERE if mean >= SEVERE else Severity.WARNING
    return Reading(not learning, mean, threshold, severity, numbers)


def _still_rises(history: History) -> bool:
    """Whether the reward rises, or has not been watched for long enough to say that it does not."""
    rewards = history.tail("reward", PATIENCE)
    if len(rewards) < PATIENCE:
        return True
    trend = mann_kendall(rewards)
    return trend.z > 0 and trend.p < P


def _split(history: History) -> dict[str, float]:
    names = {
        "right": "dead_groups/all_right",
        "wrong": "dead_groups/all_wrong",
        "copies": "samples/dead_copies",
    }
    found = {short: history.tail(name, STEPS) for short, name in names.items()}
    return {short: mean_of(values) for short, values in found.items() if values.size}


def words(reading: Reading, facts: RunFacts) -> Words:
    """Names the larger part: too hard, too easy, or not known."""
    right, wrong = reading.numbers.get("right"), reading.numbers.get("wrong")
    shared = percent(reading.value)
    split = ""
    if right is not None and wrong is not None:
        split = (
            f" In {percent(right)} of all groups every answer was right, in {percent(wrong)} every answer was wrong."
        )
    headline = f"{shared} of the groups in the last {STEPS} steps taught nothing."
    detail = (
        "A group is the set of answers to one prompt. The model learns from the differences inside a group, and in "
        f"these groups all answers got the same reward.{split} The alarm is at {percent(reading.threshold)}."
    )
    return Words(headline, detail, _action(right, wrong, facts), _causes(right, wrong, reading.numbers.get("copies")))


def _causes(right: float | None, wrong: float | None, copies: float | None) -> tuple[str, ...]:
    if right is None or wrong is None:
        return ("The prompts are too easy or too hard: this run does not say how many answers were right.",)
    causes = []
    if wrong >= right:
        causes.append("The prompts are too hard: not one of the answers to them is right.")
    if right >= wrong:
        causes.append("The prompts are too easy: every answer to them is right.")
    if copies:
        causes.append(f"In {percent(copies)} of the groups all answers are copies of one wrong answer.")
    return tuple(causes)


def _action(right: float | None, wrong: float | None, facts: RunFacts) -> Action:
    if right is not None and wrong is not None and right > wrong:
        return Action(
            "Leave out the prompts that are always answered rightly, or take harder ones: raise the largest size of "
            "the task.",
            setting="max_size",
        )
    group = facts.num_generations
    if group is None or group >= 32:
        return Action("Take easier prompts, or a reward that also pays for answers that are partly right.")
    larger = min(4 * group, 32) if group < 8 else 2 * group
    return Action(
        f"Sample {larger} answers for each prompt instead of {group}: then one right answer among them is likelier. "
        "If that is not enough, take easier prompts or a reward that also pays for partly right answers.",
        setting="num_generations",
        value=float(larger),
    )


def evidence(steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    """Groups with equal rewards."""
    return groups_where(steps, is_dead)


DETECTOR = Detector(
    name="dead_groups",
    title="Dead groups",
    needs=("frac_reward_zero_std",),
    check=check,
    words=words,
    evidence=evidence,
    roots=(
        "reward_falls",
        "not_finite",
        "wrong_mask",
        "constant_reward",
        "silent_reward",
        "kl_runaway",
        "length_pays",
        "held_out_falls",
        "truncation",
        "copies",
    ),
    hidden_when_solved=True,
    measure="share of groups with equal rewards, mean of 20 steps",
)
