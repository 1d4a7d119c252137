"""What the readers return about snapshots, seams and blind ratings of pairs."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """A snapshot as it was saved. `metrics` are those of its newest step and evaluation, NaN where not finite."""

    id: int
    run_id: int
    step: int
    path: str
    reason: str  # every, best, hand, stop, end
    created_s: float
    has_training_state: bool
    size_bytes: int
    sha256: str  # of its manifest
    metrics: Mapping[str, float]
    superseded: bool  # of steps that were replaced when the run was resumed from an earlier one


@dataclass(frozen=True, slots=True)
class SeamRecord:
    """Where a run was taken up again: after `step` the curves come from another trainer process."""

    step: int
    time_s: float


@dataclass(frozen=True, slots=True)
class PairRef:
    """Two snapshots that are compared on a run's held-out prompts; None is the run's base model."""

    run_id: int
    first_snapshot_id: int | None
    second_snapshot_id: int | None


@dataclass(frozen=True, slots=True)
class PairRating:
    """What a person chose between two completions without knowing whose they are."""

    pair: PairRef
    prompt: str
    seed: int
    first_text: str
    second_text: str
    first_was_left: bool
    choice: str  # first, second, equal, skipped
