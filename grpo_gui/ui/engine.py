"""What the window asks of store and trainer: two protocols that the composition root fills."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from grpo_gui.events import Event
from grpo_gui.outside.following import FollowWriter
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store.records import NewRun, RunRecord
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.store.records_snapshots import PairRating
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.handle import TrainerHandle
from grpo_gui.ui.run_store import RunStore


class Writer(RunStore, FollowWriter, Protocol):
    """What the window asks of the store's writer."""

    def create_run(self, run: NewRun) -> int:
        """Insert a run and return its id once it is committed; blocks, so never call it on the GUI thread."""

    def replace_config(self, run_id: int, config: str) -> None:
        """Give a run that is about to be resumed another config, one with more steps."""

    def save_findings(self, run_id: int, findings: Sequence[FindingRecord]) -> None:
        """Replace the findings of a run."""

    def mute_finding(self, run_id: int, detector: str, muted: bool = True) -> None:
        """Mute a detector for a run, or let it be heard again."""

    def remove_snapshot(self, snapshot_id: int) -> None:
        """Note that a snapshot's folder was removed by hand."""

    def rate_pair(self, rating: PairRating) -> int:
        """Keep which of two completions a person preferred; return the rating's id."""

    def emit(self, event: Event) -> None:
        """Keep an event; never blocks."""

    def rate_group(self, rating: RatingEvent) -> int:
        """Append what a person said of a group to the log; return the entry's id once it is committed."""

    def undo_rating(self, rating_id: int) -> None:
        """Take back a rating of a pair."""


class Launcher(Protocol):
    """Where trainers come from; app.py knows."""

    def start(self, config: TrainConfig, run_id: int, *, resume: bool, snapshot: Path | None = None) -> TrainerHandle:
        """Start the embedded trainer; `resume` and `snapshot` say where it begins (see `Trainer`)."""

    def start_in_background(self, run_id: int) -> TrainerHandle:
        """Start a process of ours that goes on with a run that was handed over."""

    def attach(self, run: RunRecord) -> TrainerHandle | None:
        """Return a handle for an active run of another process of ours, None if commands cannot reach it."""
