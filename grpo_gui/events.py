"""What the trainer says: small frozen dataclasses of plain values that pickle."""

from dataclasses import dataclass
from enum import Enum


class RunStatus(Enum):
    """Where a run stands; the value is what the database keeps."""

    WARMING_UP = "warming up"
    RUNNING = "running"
    PAUSED = "paused"
    WAITING = "waiting"  # for the store, see TrainerStatus.message
    FINISHED = "finished"  # all steps done
    STOPPED = "stopped"  # by the user
    HANDED_OVER = "handed over"  # state saved, another process of ours goes on
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the process died; set by the store when it opens

    @property
    def is_active(self) -> bool:
        """True while a trainer process is expected to be alive."""
        return self in _ACTIVE


_ACTIVE = frozenset({RunStatus.WARMING_UP, RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.WAITING})


@dataclass(frozen=True, slots=True, order=True)
class GroupRef:
    """The place of a group: known to the trainer's events and to the store alike.

    `superseded` n > 0: a step that was done anew when the run was resumed from an earlier one for the n-th time.
    """

    run_id: int
    step: int
    index: int
    superseded: int = 0


@dataclass(frozen=True, slots=True)
class TrainerStatus:
    """The status changed. `message` is a full sentence for the user, or empty; `details` a traceback behind it."""

    run_id: int
    status: RunStatus
    step: int
    message: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The trainer is warm: device as torch names it, versions as (package, version) pairs."""

    run_id: int
    step: int  # steps done before this start: 0 for a new run
    device: str
    parameters: int
    versions: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CompletionSample:
    """One sampled completion with its per-token values.

    All blobs have one entry per token of `token_ids` (up to and including the first EOS):
    float32 little-endian, except `clipped` (int8: -1 low, 0 no, 1 high, at the last inner update).
    `logps` are those of the last inner update's forward pass. `ref_logps` is empty without a reference.
    """

    index: int
    text: str
    token_ids: tuple[int, ...]
    tokens: tuple[str, ...]  # each token as text, for the heat map
    truncated: bool
    correct: bool | None  # None: the problem has no answer to compare with
    reward: float | None  # weighted sum over the sources that spoke; None: all abstained
    rewards: tuple[tuple[str, float | None], ...]  # (source, unweighted value or None)
    advantage: float
    old_logps: bytes
    logps: bytes
    ref_logps: bytes
    entropy: bytes
    clipped: bytes
    ratio_min: float
    ratio_max: float
    clip_fraction_low: float
    clip_fraction_high: float
    kl_mean: float | None
    kl_max: float | None


@dataclass(frozen=True, slots=True)
class GroupSample:
    """The G completions sampled for one prompt. `index` is the prompt's place in the step, from 0."""

    index: int
    task: str
    prompt: str
    answer: str | None
    prompt_token_ids: tuple[int, ...]
    completions: tuple[CompletionSample, ...]


Metrics = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """One rollout with all its inner updates. Steps count from 1; `time_s` is seconds since the epoch."""

    run_id: int
    step: int
    optimizer_step: int
    time_s: float
    metrics: Metrics
    groups: tuple[GroupSample, ...]


@dataclass(frozen=True, slots=True)
class GroupsSampled:
    """The groups of a step whose update waits for ratings; StepCompleted brings them again, with all values."""

    run_id: int
    step: int
    groups: tuple[GroupSample, ...]


@dataclass(frozen=True, slots=True)
class RatingUse:
    """What became of the ratings of a group. `values` are the human values that were learned from, None: unrated."""

    group: GroupRef
    rating_ids: tuple[int, ...]
    outcome: str  # used, expired
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class RatingsSettled:
    """The step `step` learned from these ratings, or found them too old."""

    run_id: int
    step: int
    uses: tuple[RatingUse, ...]


@dataclass(frozen=True, slots=True)
class RatingModeSet:
    """From `step` on the run uses ratings in another way: wait, async or offline."""

    run_id: int
    step: int
    mode: str


@dataclass(frozen=True, slots=True)
class EvalCompleted:
    """Held-out evaluation after `step` (0: before training). Names start with `eval/`."""

    run_id: int
    step: int
    time_s: float
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class HyperparameterChanged:
    """A hyperparameter was changed while running and holds from `step` on."""

    run_id: int
    step: int
    name: str
    old: float | None
    new: float | None


@dataclass(frozen=True, slots=True)
class StateSaved:
    """The whole training state (weights, optimizer, schedule, random state, data position) lies in `path`."""

    run_id: int
    step: int
    path: str


@dataclass(frozen=True, slots=True)
class SnapshotSaved:
    """A snapshot lies complete in the folder `path`. `step` counts the complete steps in its weights."""

    run_id: int
    step: int
    time_s: float
    path: str
    reason: str  # every, best, hand, stop, end
    has_training_state: bool
    size_bytes: int
    sha256: str  # of its manifest, which holds those of its files
    metrics: Metrics  # of the newest step and evaluation
    measures: Metrics = ()  # of the snapshot itself; names start with `snapshot/`


@dataclass(frozen=True, slots=True)
class SnapshotRemoved:
    """The keep-rule let a snapshot go."""

    run_id: int
    step: int
    path: str


@dataclass(frozen=True, slots=True)
class RunFailed:
    """The run ended by an error. `traceback` is empty when the world failed, filled when we have a bug."""

    run_id: int
    step: int
    message: str
    traceback: str


Event = (
    TrainerStatus
    | RunStarted
    | StepCompleted
    | GroupsSampled
    | RatingsSettled
    | RatingModeSet
    | EvalCompleted
    | HyperparameterChanged
    | StateSaved
    | SnapshotSaved
    | SnapshotRemoved
    | RunFailed
)
