"""What the readers return: plain frozen records, no SQL and no Qt in them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from grpo_gui.events import CompletionSample, RunStatus
from grpo_gui.events import GroupRef as GroupRef

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CompletionRef:
    """The place of a completion inside its group."""

    group: GroupRef
    index: int


@dataclass(frozen=True, slots=True)
class NewRun:
    """What is known of a run before its trainer starts. `config` is JSON text."""

    name: str
    task: str
    config: str
    seed: int
    device: str
    origin: str = "embedded"  # embedded, headless, background, router; later: imported, followed
    parent_run_id: int | None = None
    parent_step: int | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One row of the run history. Times are seconds since the epoch."""

    id: int
    name: str
    task: str
    config: str
    seed: int
    device: str
    origin: str
    status: RunStatus
    message: str
    program: str
    versions: tuple[tuple[str, str], ...]
    parameters: int | None
    created_s: float
    ended_s: float | None
    steps_done: int
    completions: int
    final_metrics: tuple[tuple[str, float | None], ...]  # of the newest step and evaluation
    state_path: str | None  # newest saved training state
    parent_run_id: int | None
    parent_step: int | None
    tags: tuple[str, ...] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class SeriesPoints:
    """The points of one metric, by rising step. NaN marks a value that was not finite or not there."""

    name: str
    definition_id: str
    steps: Int64Array
    values: Float64Array


@dataclass(frozen=True, slots=True)
class StepTotals:
    """Per step, from the step table: for the axes 'samples' and 'time', and the advantage density.

    `advantage_counts` is (steps, 27): a histogram over [-2.6, 2.6], outliers in the end bins.
    """

    steps: Int64Array
    optimizer_steps: Int64Array
    times_s: Float64Array
    samples: Int64Array  # cumulative completions
    tokens: Int64Array  # cumulative completion tokens
    advantage_counts: Int64Array


@dataclass(frozen=True, slots=True)
class CompletionRow:
    """One line of the Completions view: no blobs."""

    id: int
    ref: CompletionRef
    task: str
    prompt: str
    answer: str | None
    text: str
    reward: float | None
    advantage: float
    tokens: int
    truncated: bool
    correct: bool | None
    clip_fraction: float
    kl_max: float | None
    human: float | None = None  # what people's ratings were worth; None: unrated


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A whole group with everything that was stored of it."""

    id: int
    ref: GroupRef
    task: str
    prompt: str
    answer: str | None
    prompt_token_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]  # database ids, in order of index
    completions: tuple[CompletionSample, ...]


@dataclass(frozen=True, slots=True)
class ChangeRecord:
    """A hyperparameter changed while running."""

    step: int
    name: str
    old: float | None
    new: float | None


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note of the user at a step."""

    id: int
    step: int
    text: str
    created_s: float


@dataclass(frozen=True, slots=True)
class CompletionQuery:
    """What the Completions view asks for. None means no limit; `search` looks in prompt and completion."""

    run_id: int
    search: str = ""
    min_step: int | None = None
    max_step: int | None = None
    task: str | None = None
    correct: bool | None = None
    truncated: bool | None = None
    min_reward: float | None = None
    max_reward: float | None = None
    min_tokens: int | None = None
    max_tokens: int | None = None
    superseded: bool = False  # True: only those of steps that were done anew after a resume
    # newest, oldest, reward_high, reward_low, longest, advantage_high, advantage_low, kl_high, clipped_high
    sort: str = "newest"


@dataclass(frozen=True, slots=True)
class CompletionPage:
    """One keyset page. Hand `cursor` back to get the next one; None at the end."""

    rows: tuple[CompletionRow, ...]
    cursor: tuple[float | int, ...] | None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """One group header of the Completions view."""

    ref: GroupRef
    task: str
    prompt: str
    right: int | None  # None: no answer to compare with
    size: int
    reward_std: float
    has_signal: bool


@dataclass(frozen=True, slots=True)
class GroupPage:
    """One keyset page of groups with their completions."""

    groups: tuple[tuple[GroupSummary, tuple[CompletionRow, ...]], ...]
    cursor: tuple[float | int, ...] | None
