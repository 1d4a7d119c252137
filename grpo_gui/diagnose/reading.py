"""What a detector is, and what it says about one step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from grpo_gui.diagnose.evidence import SampleRef, StepGroups
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.history import History


class Severity(IntEnum):
    """How much a finding matters. It only rises while a finding lives."""

    NOTE = 1
    WARNING = 2
    SEVERE = 3

    @property
    def label(self) -> str:
        """The word that people see."""
        return self.name.lower()


class Missing(Enum):
    """Why a detector has nothing to say; the value is the sentence that people see."""

    NOT_ENOUGH = "not enough data"
    NOT_RECORDED = "not recorded by this run"
    BY_CONSTRUCTION = "by construction of this run"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a detector measured at one step: `value` against `threshold`, and whether that is an alarm.

    `numbers` is what the sentences need beside the two.
    """

    alarm: bool
    value: float
    threshold: float
    severity: Severity = Severity.WARNING
    numbers: Mapping[str, float] = field(default_factory=dict)
    subject: str = ""  # the reward source or the metric that it is about, where there are several


@dataclass(frozen=True, slots=True)
class Action:
    """The one thing to do. `setting` and `value` are filled where the program can do it.

    `live`: the setting may be changed while the run goes on; else it takes a new run or a branch.
    """

    sentence: str
    setting: str = ""
    value: float | None = None
    live: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """A finding for someone who has never read about GRPO: plain full sentences with the numbers in them."""

    headline: str
    detail: str
    action: Action
    causes: tuple[str, ...] = ()


Check = Callable[[History, RunFacts], Reading | Missing]
Explain = Callable[[Reading, RunFacts], Words]
Pick = Callable[[Sequence[StepGroups]], tuple[SampleRef, ...]]


def _nothing(_steps: Sequence[StepGroups]) -> tuple[SampleRef, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Detector:
    """One thing that can be wrong with a run.

    Args:
        name: for the database and the command line, for example dead_groups.
        title: two or three words.
        needs: the series it reads; it is asked at every step that brings a value of the first, once all are there.
        check: reads the history as it stands at a step. Fast: it runs at every step.
        words: turns an alarm into sentences.
        evidence: picks the samples that show it from the newest steps.
        hold: so many steps in a row must be an alarm.
        roots: findings that explain this one; while one of them lives, this one is its symptom.
        hidden_when_solved: what it sees is expected once the task is solved.
        pauses: a broken invariant: the run may be paused for it where the user switched that on.
        measure: what `Reading.value` is, for the plot of a finding.
    """

    name: str
    title: str
    needs: tuple[str, ...]
    check: Check
    words: Explain
    measure: str
    evidence: Pick = _nothing
    hold: int = 5
    roots: tuple[str, ...] = ()
    hidden_when_solved: bool = False
    pauses: bool = False
