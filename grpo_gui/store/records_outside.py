"""What is stored of runs made elsewhere: plain frozen records."""

from dataclasses import dataclass

from grpo_gui.events import CompletionSample, GroupSample


@dataclass(frozen=True, slots=True)
class OutsideMetric:
    """One value under our name, with the name that the other program gave it. `value` may be NaN."""

    name: str
    raw_name: str
    definition_id: str
    value: float


@dataclass(frozen=True, slots=True)
class OutsideStep:
    """What one source says of one step; several of them may tell about the same step.

    `may_restart`: the source was begun anew, so a value that contradicts the stored one means that the run was
    resumed from an earlier step. `is_evaluation`: it alone does not make a step.
    """

    step: int
    metrics: tuple[OutsideMetric, ...] = ()
    groups: tuple[GroupSample, ...] = ()
    time_s: float | None = None
    may_restart: bool = False
    is_evaluation: bool = False


@dataclass(frozen=True, slots=True)
class SampleUpdate:
    """What became known of a stored completion later: rewards, advantage, values of its tokens."""

    step: int
    group: int
    sample: CompletionSample


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """How far a file was read. `state` is JSON that its reader understands; `problem` a sentence or empty."""

    name: str
    identity: str = ""
    offset: int = 0
    state: str = "{}"
    problem: str = ""


@dataclass(frozen=True, slots=True)
class OutsideStart:
    """The other program began, or went on from `step` complete steps. A `session` counts once."""

    session: str
    step: int
    versions: tuple[tuple[str, str], ...] = ()
    device: str = ""


@dataclass(frozen=True, slots=True)
class OutsideBatch:
    """What is written in one transaction: all of it or nothing. Starts come first."""

    starts: tuple[OutsideStart, ...] = ()
    steps: tuple[OutsideStep, ...] = ()
    updates: tuple[SampleUpdate, ...] = ()
    sources: tuple[SourceRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class OutsideRun:
    """Where a run came from. `digest` is that of the imported content, empty for one that is followed."""

    run_id: int
    place: str
    format: str
    digest: str
    summary: str
