"""D26: the reward pays for answers that cannot be right."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

_PLAIN = {
    "empty": "an empty answer",
    "prompt_echo": "an answer that only repeats the prompt",
    "repeated_token": "one word said again and again",
    "all_answers": "a list of all possible answers",
    "very_long": "a very long answer",
}


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """A nonsense answer scores at least the median of real ones: empty, prompt echo, repeated token, all answers.

    `fuzz/{kind}` is the mean score of that nonsense at the first step, `fuzz/real_median` that of sampled answers. As
    much as the median counts only where it is above the lowest real score, since else nothing can be below it; more
    than the median always counts. Source: facts of the project, D26.
    """
    median = float(history.tail("fuzz/real_median", 1)[0])
    worst, kind = -float("inf"), ""
    for name in history.names_between("fuzz/", ""):
        if name in ("real_median", "real_lowest"):
            continue
        score = float(history.tail(f"fuzz/{name}", 1)[0])
        if score > worst:
            worst, kind = score, name
    if not kind:
        return Missing.NOT_RECORDED
    lowest = history.tail("fuzz/real_lowest", 1)
    can_be_below = not lowest.size or median > float(lowest[0])
    alarm = worst > median or (can_be_below and worst >= median)
    return Reading(alarm, worst, median, Severity.WARNING, subject=kind)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Names the nonsense."""
    what = _PLAIN.get(reading.subject, f"the nonsense answer “{reading.subject}”")
    headline = f"The reward pays for {what}."
    detail = (
        f"It earns {number(reading.value)}; half of the real answers earn {number(reading.threshold)} or less. A model "
        "that can be paid without answering will find that out."
    )
    action = Action(
        f"Change the reward so that {what} earns nothing; try it with “Try the rewards…” in the form of a new run."
    )
    return Words(headline, detail, action, ("The reward looks at the form of the answer only.",))


DETECTOR = Detector(
    name="reward_fuzz",
    title="Nonsense is paid",
    needs=("fuzz/real_median",),
    check=check,
    words=words,
    hold=1,
    roots=("constant_reward", "length_pays"),
    measure="best score of a nonsense answer",
)
