"""What the Snapshots view asks of models: a protocol that the composition root fills; the window has no torch."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grpo_gui.snapshots.judging import Answer, Comparison
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.background_tasks import TaskFailure


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt for one model; `model` is a folder or "builtin"."""

    model: str
    prompt: str
    temperature: float
    max_new_tokens: int
    seed: int
    device: str


@dataclass(frozen=True, slots=True)
class Match:
    """Two models that shall answer the held-out prompts of a run's task."""

    first: str
    second: str
    config: TrainConfig
    prompts: int
    seed: int


class SnapshotEngine(Protocol):
    """Works beside the GUI thread and calls back on it."""

    def ask(self, question: Question, done: Callable[[Answer], None], failed: Callable[[TaskFailure], None]) -> None:
        """Sample one completion."""

    def compare(
        self,
        match: Match,
        progress: Callable[[int, int], None],
        done: Callable[[Comparison | None], None],
        failed: Callable[[TaskFailure], None],
    ) -> Callable[[], None]:
        """Compare; return what cancels it, after which `done` gets None."""

    def export(
        self,
        snapshot: Path,
        target: Path,
        dtype: str,
        done: Callable[[Path], None],
        failed: Callable[[TaskFailure], None],
    ) -> None:
        """Write a snapshot to a new folder that other tools load."""
