"""What the store knows of a diagnosis: plain records, and the rows that a diagnosis is made from."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """One finding of a run as it is kept. `document` is JSON with everything that the diagnosis knows of it."""

    detector: str
    title: str
    severity: str  # note, warning, severe
    state: str  # open, symptom, closed
    root: str
    onset: int
    noticed: int
    headline: str
    detail: str
    action: str
    document: str


class StoredCompletion(NamedTuple):
    """A completion with what the diagnosis reads of it; see `CompletionSample` for the blobs."""

    text: str
    token_ids: tuple[int, ...]
    truncated: bool
    correct: bool | None
    reward: float | None
    rewards: tuple[tuple[str, float | None], ...]
    advantage: float
    old_logps: bytes
    logps: bytes
    ref_logps: bytes


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """The completions of one prompt; `index` is its place in the step."""

    index: int
    prompt: str
    completions: tuple[StoredCompletion, ...]


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A step as it was stored: its metrics, evaluations after it among them, and its groups."""

    step: int
    metrics: dict[str, float]
    groups: tuple[StoredGroup, ...]
