"""F: writing the database takes long, or the disk is nearly full."""

import numpy as np

from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History
from grpo_gui.diagnose.reading import Action, Detector, Missing, Reading, Severity, Words
from grpo_gui.diagnose.text import number

WINDOW = 100
SLOW_MS = 100.0
SNAPSHOTS = 2.0


def check(history: History, _facts: RunFacts) -> Reading | Missing:
    """Free disk below two snapshots; or the 99th percentile of the last 100 database writes > 100 ms.

    `system/disk_free_gb`, `snapshot/size_gb` and `system/write_ms` (the longest commit since the step before).
    Source: facts of the project, F.
    """
    free, size = history.tail("system/disk_free_gb", 1), history.tail("snapshot/size_gb", 1)
    if size.size and float(free[0]) < SNAPSHOTS * float(size[0]):
        return Reading(True, float(free[0]), SNAPSHOTS * float(size[0]), Severity.SEVERE, subject="full")
    writes = history.tail("system/write_ms", WINDOW)
    if len(writes) < WINDOW:
        return Missing.NOT_ENOUGH if not size.size else Reading(False, 0.0, SLOW_MS)
    late = float(np.quantile(writes, 0.99))
    return Reading(late > SLOW_MS, late, SLOW_MS, subject="slow")


def words(reading: Reading, _facts: RunFacts) -> Words:
    """Says which of the two."""
    if reading.subject == "full":
        headline = f"The disk is nearly full: {number(reading.value)} GB are left."
        detail = f"That is less than two snapshots ({number(reading.threshold)} GB), so the next ones may not be saved."
        return Words(headline, detail, Action("Free some space, or delete snapshots that are not needed."), ())
    headline = f"Saving takes long: one write in a hundred takes {number(reading.value)} ms."
    detail = (
        f"The alarm is at {number(reading.threshold)} ms. Training waits when the samples cannot be saved fast enough."
    )
    return Words(
        headline,
        detail,
        Action("Move the database to a faster disk, not a network drive."),
        ("The disk is slow or busy.",),
    )


DETECTOR = Detector(
    name="slow_disk",
    title="Disk",
    needs=("system/disk_free_gb",),
    check=check,
    words=words,
    measure="free GB, or milliseconds a write",
)
