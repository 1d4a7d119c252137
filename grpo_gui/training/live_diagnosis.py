"""The diagnosis of a run that trains in this process without a window: fed with its events, asked at its end."""

import logging
import time
from collections.abc import Callable

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.reading import Severity
from grpo_gui.events import Event
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.training.diagnosing import feed_event, finding_records

logger = logging.getLogger(__name__)

EVERY_S = 1.0  # between two looks: several steps at once cost half of what they cost one by one


class LiveDiagnosis:
    """Calls `found` with each finding that opens or gets worse. A bug in it ends the diagnosis, never the run."""

    def __init__(self, diagnosis: Diagnosis, found: Callable[[Finding], None]) -> None:
        """Go on with `diagnosis`, which knows what the run has done before."""
        self.diagnosis = diagnosis
        self._found = found
        self._told: dict[str, Severity] = {
            one.detector: one.severity for one in diagnosis.findings if one.state is FindingState.OPEN
        }
        self._waiting: list[Event] = []
        self._next_s = 0.0
        self._has_failed = False

    def take(self, event: Event) -> None:
        """Take one event of the run; it is looked at within a second, or with the next event after that."""
        if self._has_failed:
            return
        self._waiting.append(event)
        if time.monotonic() >= self._next_s:
            self.look()

    def look(self) -> None:
        """Feed the events that wait; less than a millisecond a step."""
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self._feed(event)
        self._next_s = time.monotonic() + EVERY_S

    def _feed(self, event: Event) -> None:
        if self._has_failed:
            return
        try:
            changed = feed_event(self.diagnosis, event)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            self._has_failed = True
            logger.exception("The diagnosis of run %d has failed and goes on no more; training does.", event.run_id)
            return
        for one in changed:
            is_open = one.state is FindingState.OPEN
            if is_open and one.severity > self._told.get(one.detector, 0):
                self._told[one.detector] = one.severity
                self._found(one)

    def records(self) -> tuple[FindingRecord, ...]:
        """The findings in the form that the store keeps, once all events were looked at."""
        self.look()
        return finding_records(self.diagnosis)
