"""What the readers of other programs' files hand over: rows of numbers, rows of samples, and what could not be read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from grpo_gui.errors import BadInputError
from grpo_gui.events import CompletionSample, GroupSample

WORLD_SIZE = "world_size"  # among a run's settings: how many processes really trained


class OutsideError(BadInputError):
    """A run made elsewhere cannot be read; the message names the file, the place and the reason."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a file that was left out. `place` says where: a line, a record, a byte; empty for the whole file."""

    file: str
    place: str
    reason: str

    @property
    def sentence(self) -> str:
        """File, place and reason: `a.jsonl, line 3: no JSON`."""
        where = f"{self.file}, {self.place}" if self.place else self.file
        return f"{where}: {self.reason.rstrip('.')}."


@dataclass(frozen=True, slots=True)
class ScalarRow:
    """Numbers of one step under their raw names. See `OutsideStep.may_restart`."""

    step: int
    values: Mapping[str, float]
    time_s: float | None = None
    may_restart: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion. None: the file does not say. `rewards` are unweighted, None in them is no opinion."""

    prompt: str
    text: str
    rewards: tuple[tuple[str, float | None], ...] = ()
    reward: float | None = None
    advantage: float | None = None
    answer: str | None = None
    group: str | None = None  # what tells its group from others of the step
    token_ids: tuple[int, ...] = ()
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class SampleRows:
    """The completions of one step, in the order of the file. `file` names it for people.

    `appends`: further rows of the step may follow; otherwise they are all, and the same ones where they come again.
    """

    step: int
    samples: tuple[Sample, ...]
    file: str
    time_s: float | None = None
    appends: bool = False


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """A group that is complete already (our bridge)."""

    step: int
    group: GroupSample
    time_s: float | None = None


@dataclass(frozen=True, slots=True)
class SampleChange:
    """A completion of a group that was handed over, with more known of it."""

    step: int
    group: int
    sample: CompletionSample


@dataclass(frozen=True, slots=True)
class StartRow:
    """The other program began, or went on after `step` complete steps."""

    session: str
    step: int
    versions: tuple[tuple[str, str], ...]
    device: str
    pid: int | None
    host: str
    world_size: int


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The other program says what it does: `kind` is status, snapshot or end."""

    kind: str
    rank: int
    step: int
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class RateRow:
    """The other program would take ratings of these rows, or waits for them."""

    step: int
    generation: int
    rows: tuple[int, ...]
    waits: bool


Piece = ScalarRow | SampleRows | StoredGroup | SampleChange | StartRow | StatusRow | RateRow


@dataclass(slots=True)
class RunInfo:
    """What the files say about the run itself."""

    name: str = ""
    config: dict[str, object] = field(default_factory=dict)
    max_steps: int | None = None
    logging_steps: int | None = None
    global_step: int | None = None
    weights: dict[str, float] | None = None  # of the reward functions; None: not known


def number(value: object) -> float | None:
    """A number out of JSON or CSV, NaN and infinities included; None for everything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return as_float(value)
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        return float(value)
    except ValueError:
        return None


def as_float(value: float) -> float:
    """A float; an integer too large for one is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def whole(value: object) -> int | None:
    """A step: a whole number that SQLite can keep, not below 0; None for everything else."""
    found = number(value)
    if found is None or not math.isfinite(found) or found != int(found) or not 0 <= found < 2**53:
        return None
    return int(found)
