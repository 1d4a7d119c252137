"""A finding: one thing that is wrong with a run, in words, with its numbers, its samples and its story."""

from dataclasses import dataclass
from enum import Enum

from grpo_gui.diagnose.evidence import SampleRef
from grpo_gui.diagnose.reading import Action, Severity


class FindingState(Enum):
    """Where a finding stands; the value is what the database keeps."""

    OPEN = "open"
    SYMPTOM = "symptom"  # explained by another finding, `Finding.root`
    CLOSED = "closed"  # has not been seen for a while


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened to a finding, as a short clause: "opened as a warning", "closed"."""

    step: int
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. There is one per detector and run; it opens again when its trouble returns.

    `onset` is the step from which on it held, `noticed` the step at which it was said, `seen` the newest step at
    which it was still true. The sentences belong to the step at which the severity last rose.
    """

    detector: str
    title: str
    severity: Severity
    state: FindingState
    onset: int
    noticed: int
    seen: int
    headline: str
    detail: str
    causes: tuple[str, ...]
    action: Action
    measure: str
    value: float
    threshold: float
    evidence: tuple[SampleRef, ...] = ()
    root: str = ""  # the detector that explains this one, or did when it closed
    pauses: bool = False
    history: tuple[Moment, ...] = ()

    @property
    def is_finding(self) -> bool:
        """True for what counts as a finding of the run: everything that no other finding explains, or did."""
        return not self.root
