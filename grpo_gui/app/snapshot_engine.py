"""Sampling, comparing and exporting snapshots in a thread of their own, which imports torch."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from grpo_gui.snapshots.judging import Answer, Comparison
from grpo_gui.training.playground import Cancelled, Playground
from grpo_gui.ui.background_tasks import BackgroundTasks, TaskFailure
from grpo_gui.ui.snapshot_engine import Match, Question

T = TypeVar("T")

CLOSE_TIMEOUT_S = 10.0


class SnapshotWorker(QObject):
    """A SnapshotEngine with one worker thread: one model is in memory at a time."""

    def __init__(self, threads: Callable[[], int]) -> None:
        """Take how many threads torch may use now."""
        super().__init__()
        self._tasks = BackgroundTasks(lambda: Playground(threads), Playground.forget, workers=1)
        self._stops: list[threading.Event] = []

    def ask(self, question: Question, done: Callable[[Answer], None], failed: Callable[[TaskFailure], None]) -> None:
        """Sample one completion."""

        def work(playground: Playground) -> Answer:
            return playground.ask(
                question.model,
                question.prompt,
                temperature=question.temperature,
                max_new_tokens=question.max_new_tokens,
                seed=question.seed,
                device=question.device,
            )[0]

        self._tasks.run(work, done, failed)

    def compare(
        self,
        match: Match,
        progress: Callable[[int, int], None],
        done: Callable[[Comparison | None], None],
        failed: Callable[[TaskFailure], None],
    ) -> Callable[[], None]:
        """Compare; return what cancels it, after which `done` gets None."""
        stop, relay = threading.Event(), _Relay(self)
        relay.progressed.connect(progress)
        self._stops.append(stop)

        def work(playground: Playground) -> Comparison | None:
            try:
                return playground.compare(
                    match.first,
                    match.second,
                    match.config,
                    prompts=match.prompts,
                    seed=match.seed,
                    progress=relay.progressed.emit,
                    cancelled=stop.is_set,
                )
            except Cancelled:
                return None

        def finish(tell: Callable[[T], None], result: T) -> None:
            self._stops.remove(stop)
            relay.deleteLater()
            tell(result)

        self._tasks.run(work, partial(finish, done), partial(finish, failed))
        return stop.set

    def export(
        self,
        snapshot: Path,
        target: Path,
        dtype: str,
        done: Callable[[Path], None],
        failed: Callable[[TaskFailure], None],
    ) -> None:
        """Write a snapshot to a new folder that other tools load."""

        def work(_: Playground) -> Path:
            from grpo_gui.snapshots.exporting import export_snapshot

            export_snapshot(snapshot, target, dtype)
            return target

        self._tasks.run(work, done, failed)

    def close(self) -> None:
        """Break off what is under way and end the thread."""
        for stop in self._stops:
            stop.set()
        self._tasks.close(CLOSE_TIMEOUT_S)


class _Relay(QObject):
    """Brings the progress of one comparison to the GUI thread."""

    progressed = Signal(int, int)
