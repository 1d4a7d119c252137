"""One line of the Snapshots view: what was saved, how good it was, and whether its files are what was written."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

REASONS = {"best": "best until then", "hand": "by hand", "stop": "when stopped", "end": "at the end"}


class FileState(Enum):
    """What is known of a snapshot's files; the value is what the table shows."""

    CHECKING = "checking\u2026"
    VERIFIED = "verified"
    DAMAGED = "damaged"
    MISSING = "missing"
    NOT_COPIED = "not copied"


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """A snapshot, or the base model of the run (`snapshot_id` None). Metrics are NaN where none were measured."""

    snapshot_id: int | None
    step: int
    reason: str
    save_steps: int  # of the run's settings
    reward: float
    held_out: float
    kl: float
    size_bytes: int
    path: Path | None  # None: the base model
    model: str  # what loads it: the snapshot's folder, the model's folder or "builtin"
    sha256: str
    created_s: float
    has_training_state: bool
    pinned: bool
    is_best: bool
    superseded: bool
    files: FileState
    problem: str = ""  # why the files are not verified

    @property
    def is_base(self) -> bool:
        """True for the model that the run began with."""
        return self.snapshot_id is None

    @property
    def made(self) -> str:
        """Why it was made, in words."""
        if self.is_base:
            return "base model"
        if self.reason == "every":
            text = f"every {self.save_steps}" if self.save_steps else "in between"
        elif self.is_best and self.reason == "best":
            text = "best held-out"
        else:
            text = REASONS.get(self.reason, self.reason)
        return f"{text}, superseded" if self.superseded else text

    @property
    def keep(self) -> str:
        """Why the keep-rule leaves it, where that is not its place among the last ones."""
        if self.is_base:
            return ""
        return "pinned" if self.pinned else "best" if self.is_best else ""

    @property
    def title(self) -> str:
        """How it is called in boxes: step 150, base model."""
        return "base model" if self.is_base else f"step {self.step}"
