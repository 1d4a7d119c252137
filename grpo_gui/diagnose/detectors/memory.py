"""F: memory will run out."""

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.statistics import fitted_line
from grpo_gui.diagnose.text import number, steps

WINDOW = 60
STEADY = 0.75
SOON = 500.0


def check(history: History, facts: RunFacts) -> Reading | Missing:
    """Memory of the process rises along a steady line (R^2 >= .75 over 60) to what is free, before the run's end.

    `system/memory_gb` is what the process holds, `system/memory_free_gb` what the machine still has. Without a known
    end, 500 steps count as soon. Source: facts of the project, F.
    """
    used = history.tail("system/memory_gb", WINDOW)
    if len(used) < WINDOW:
        return Missing.NOT_ENOUGH
    line = fitted_line(used)
    free = float(history.tail("system/memory_free_gb", 1)[0])
    left = free / line.slope if line.slope > 0 else float("inf")
    limit = SOON if facts.steps is None else max(float(facts.steps - history.step), 0.0)
    alarm = line.r_squared >= STEADY and left < limit
    numbers = {"used": float(used[-1]), "free": free}
    return Reading(alarm, min(left, 1e9), limit, Severity.SEVERE, numbers)


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says when."""
    headline = f"Memory runs out in about {steps(reading.value)}."
    detail = (
        f"The program holds {number(reading.numbers['used'])} GB and grows with every step; "
        f"{number(reading.numbers['free'])} GB are free."
    )
    return Words(
        headline,
        detail,
        Action("Save a snapshot, restart the program and resume the run."),
        ("Something is kept that should be let go.",),
    )


DETECTOR = Detector(
    name="memory",
    title="Memory runs out",
    needs=("system/memory_gb", "system/memory_free_gb"),
    check=check,
    words=words,
    measure="steps until memory runs out",
)
