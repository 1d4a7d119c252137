"""A3: the groups are put together wrongly."""

from grpo_gui.diagnose.actions import report_a_bug
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

LIMIT = 1e-4


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """|sum of the advantages of a group| > 1e-4, an advantage beyond its bound, a wrong size, an index used twice.

    Two groups with the same prompt are no error: tasks with few prompts draw one twice, and groups are told apart
    by their place. Source: facts of the project, A3; the bound is (G-1)/sqrt(G).
    """
    error = float(history.tail("samples/group_sum_error", 1)[0])
    if error > LIMIT and facts.scale_rewards is not None:
        return Reading(True, error, LIMIT, Severity.SEVERE, subject="sum")
    for name, subject in (
        ("samples/advantage_excess", "bound"),
        ("samples/group_size_error", "size"),
        ("samples/repeated_groups", "index"),
    ):
        if history.is_fresh(name):
            value = float(history.tail(name, 1)[0])
            if value > LIMIT:
                return Reading(True, value, LIMIT, Severity.SEVERE, subject=subject)
    return Reading(False, error, LIMIT)


def words(reading: Reading, facts: RunFacts) -> Words:
    """Says which of the four it is."""
    value = number(reading.value)
    size = "this size" if facts.num_generations is None else f"{facts.num_generations} answers"
    sentences = {
        "sum": f"In one group, what the answers gain and lose against each other adds up to {value} instead of 0.",
        "bound": f"One answer counts {value} more than it can in a group of {size}.",
        "size": f"Groups that do not have {size}: {value}.",
        "index": f"Groups that carry the number of another group: {value}.",
    }
    detail = (
        f"{sentences[reading.subject]} Each answer is compared with the other answers to the same prompt; when the "
        "groups are wrong, answers are compared with strangers."
    )
    action = report_a_bug("answers are compared with the wrong ones.")
    cause = "The program that trains changed the order of the answers, or took equal prompts for one."
    return Words("Answers are grouped wrongly.", detail, action, (cause,))


DETECTOR = Detector(
    name="group_sums",
    title="Wrong groups",
    needs=("samples/group_sum_error",),
    check=check,
    words=words,
    hold=1,
    pauses=True,
    measure="largest sum of the advantages of a group",
)
