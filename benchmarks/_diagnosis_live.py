"""What the diagnosis costs a run that trains: without a window, and in the window, where it reads beside it.

A run goes in blocks of steps with and without the diagnosis by turns; between two blocks it hears of those that it
missed. Counted is processor time of the whole process, and that of the diagnosis' own code, which is less noisy.
"""

import os
import queue
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import facts_from_config
from grpo_gui.events import Event, StepCompleted
from grpo_gui.paths import run_files_dir
from grpo_gui.settings import Settings
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.live_diagnosis import LiveDiagnosis
from grpo_gui.training.presets import preset_config
from grpo_gui.training.trainer import Trainer
from grpo_gui.training.validation import config_to_json

BLOCK = 20  # steps
TIMEOUT_S = 300.0


class Cost(NamedTuple):
    """Milliseconds of processor time: a step without the diagnosis, what one with it has more, and its own code."""

    where: str
    step: float
    more: float
    error: float  # standard error of `more`
    own: float


class Watch:
    """Something that can be kept up to date with a run: `catch_up` to a step, while it is not `on` by itself."""

    own_s = 0.0
    is_on = False

    def hear(self, event: Event) -> None:
        """Take an event in the trainer's thread."""

    def catch_up(self, _: int) -> None:
        """Come to know all steps up to this one."""


class BlockSink:
    """The store, which measures a block of steps at its end; even blocks are without the diagnosis."""

    def __init__(self, writer: StoreWriter, watch: Watch) -> None:
        self._writer, self._watch = writer, watch
        self.congestion, self.flush, self.write_ms = writer.congestion, writer.flush, writer.write_ms
        self.totals: list[float] = []
        self.owns: list[float] = []
        self._begin()

    def emit(self, event: Event) -> None:
        """Store the event; after the last step of a block measure it and begin the next."""
        self._writer.emit(event)
        self._watch.hear(event)
        if not isinstance(event, StepCompleted) or event.step % BLOCK:
            return
        if self._watch.is_on:
            self._watch.catch_up(event.step)
        self.totals.append(1e3 * (time.process_time() - self._begun_s) / BLOCK)
        self.owns.append(1e3 * self._watch.own_s / BLOCK)
        self._watch.catch_up(event.step)
        self._watch.is_on = not self._watch.is_on
        self._begin()

    def _begin(self) -> None:
        self._begun_s, self._watch.own_s = time.process_time(), 0.0

    def cost(self, where: str) -> Cost:
        """The first block of each kind warms up."""
        without, with_it = self.totals[2::2], self.totals[3::2]
        more = [one - other for one, other in zip(with_it, without, strict=True)]
        own = statistics.mean(self.owns[3::2])
        error = statistics.stdev(more) / len(more) ** 0.5
        return Cost(where, statistics.mean(without), statistics.mean(more), error, own)


class HeadlessWatch(Watch):
    """The diagnosis of `grpo-gui train`."""

    def __init__(self, config: dict[str, object]) -> None:
        self._diagnosis = LiveDiagnosis(Diagnosis(facts_from_config(config)), lambda _: None)
        self._waiting: list[Event] = []

    def hear(self, event: Event) -> None:
        """Keep the event, or pass it on while on."""
        self._waiting.append(event)
        if self.is_on:
            begun = time.thread_time()
            self._diagnosis.take(self._waiting.pop())
            self.own_s += time.thread_time() - begun

    def catch_up(self, _: int) -> None:
        """Pass on what waits, and have all of it looked at."""
        begun = time.thread_time()
        while self._waiting:
            self._diagnosis.take(self._waiting.pop(0))
        self._diagnosis.look()
        self.own_s += time.thread_time() - begun


class WindowWatch(Watch):
    """The diagnosis of the window: on the GUI thread, with reads beside it."""

    def __init__(self, path: Path, writer: StoreWriter, run_id: int) -> None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from PySide6.QtWidgets import QApplication

        from grpo_gui.ui import health_watch
        from grpo_gui.ui.background_tasks import BackgroundTasks
        from grpo_gui.ui.event_pump import EventPump
        from grpo_gui.ui.workspace import Workspace

        self._app = QApplication.instance() or QApplication([])
        self._pump, self._wanted, self._known = EventPump(), 0, threading.Event()
        self._tasks = BackgroundTasks(lambda: StoreReader(path), StoreReader.close)
        self._look, self._module = health_watch._look, health_watch
        health_watch._look = self._timed_look
        self._workspace = Workspace(path, Settings(), self._tasks, self._pump, writer, _NoLauncher())
        self.watch = health_watch.HealthWatch(self._workspace)
        self._workspace.select_run(run_id)
        self._pump.start()

    def hear(self, event: Event) -> None:
        """Show the event to the window while on; else it will read it all between two blocks."""
        if self.is_on:
            self._pump.put(event)

    def catch_up(self, step: int) -> None:
        """Let the GUI thread read up to this step; called in the trainer's thread."""
        self._known.clear()
        self._wanted = step
        if not self._known.wait(TIMEOUT_S):
            raise TimeoutError("The window's diagnosis does not come to know the newest step.")

    def run(self, trainer: threading.Thread) -> None:
        """Be the GUI thread while the trainer lives."""
        from PySide6.QtCore import QTimer

        def look() -> None:
            if not trainer.is_alive():
                self._app.quit()
            elif self._wanted and self.watch.health.step >= self._wanted:
                self._wanted = 0
                self._known.set()
            elif self._wanted:
                self.watch._tick()

        timer = QTimer()
        timer.timeout.connect(look)
        timer.start(50)
        self._app.exec()

    def close(self) -> None:
        """End timers and threads."""
        self._module._look = self._look
        self._workspace.close()
        self._pump.stop()
        self._tasks.close()

    def _timed_look(self, *given: object, **named: object) -> object:
        begun = time.thread_time()
        answer = self._look(*given, **named)
        self.own_s += time.thread_time() - begun
        return answer


class _NoLauncher:
    """The trainer is started by the benchmark."""

    def attach(self, run: object) -> None:
        """There is nothing to command."""


def live_costs(pairs: int = 8) -> list[Cost]:
    """Train a default run twice and measure both."""
    with tempfile.TemporaryDirectory() as folder:
        return [_headless(Path(folder), pairs), _in_the_window(Path(folder), pairs)]


def _headless(folder: Path, pairs: int) -> Cost:
    config, writer, _, train = _begin(folder / "headless.db", pairs)
    sink = BlockSink(writer, HeadlessWatch(asdict(config)))
    train(sink)
    writer.close()
    return sink.cost("without a window")


def _in_the_window(folder: Path, pairs: int) -> Cost:
    _, writer, run_id, train = _begin(folder / "window.db", pairs)
    watch = WindowWatch(folder / "window.db", writer, run_id)
    sink = BlockSink(writer, watch)
    thread = threading.Thread(target=train, args=(sink,), daemon=True)
    thread.start()
    watch.run(thread)
    watch.close()
    writer.close()
    return sink.cost("in the window")


def _begin(path: Path, pairs: int) -> tuple[object, StoreWriter, int, Callable[[BlockSink], None]]:
    config = replace(preset_config("default"), task="sort", steps=2 * BLOCK * (pairs + 1), eval_steps=0, device="cpu")
    writer = StoreWriter.open(path)
    run_id = writer.create_run(NewRun("cost", config.task, config_to_json(config), 0, "cpu"))

    def train(sink: BlockSink) -> None:
        Trainer(config, run_id, sink, queue.SimpleQueue(), run_files_dir(path, run_id)).run()

    return config, writer, run_id, train
