"""The diagnosis of a run that trains in this process without a window: fed with its events, asked at its end."""

import logging
from collections.abc import Callable

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.finding import Finding, FindingState
from grpo_gui.diagnose.reading import Severity
from grpo_gui.events import Event
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.training.diagnosing import feed_event, finding_records

logger = logging.getLogger(__name__)


class LiveDiagnosis:
    """Calls `found` with each finding that opens or gets worse. A bug in it ends the diagnosis, never the run."""

    def __init__(self, diagnosis: Diagnosis, found: Callable[[Finding], None]) -> None:
        """Go on with `diagnosis`, which knows what the run has done before."""
        self.diagnosis = diagnosis
        self._found = found
        self._told: dict[str, Severity] = {
            one.detector: one.severity for one in diagnosis.findings if one.state is FindingState.OPEN
        }
        self._has_failed = False

    def take(self, event: Event) -> None:
        """Feed one event of the run; about a millisecond a step."""
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
        """The findings in the form that the store keeps."""
        return finding_records(self.diagnosis)
