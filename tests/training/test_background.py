import logging
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from grpo_gui.commands import Command, HandOver, Pause, SetHyperparameters, Stop
from grpo_gui.errors import BadInputError, StoreError, TrainingError
from grpo_gui.events import RunStatus, StepCompleted
from grpo_gui.paths import run_files_dir
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training import background
from grpo_gui.training.background import BackgroundHandle, continue_run, polling, start_background
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.runner import claim_new_run, run_in_foreground
from grpo_gui.training.thread import TrainerThread
from grpo_gui.training.validation import config_to_json
from tests.training.fakes import tiny_config


class Table:
    """The table of commands, without a database; `broken` makes the next call fail."""

    def __init__(self) -> None:
        self.commands: list[tuple[int, Command]] = []
        self.broken = False
        self.posted = threading.Event()

    def post_command(self, run_id: int, command: Command) -> None:
        self.posted.set()
        self._fail_if_broken()
        self.commands.append((run_id, command))

    def take_commands(self, run_id: int) -> list[Command]:
        self._fail_if_broken()
        taken = [command for owner, command in self.commands if owner == run_id]
        self.commands = [(owner, command) for owner, command in self.commands if owner != run_id]
        return taken

    def _fail_if_broken(self) -> None:
        if self.broken:
            self.broken = False
            raise StoreError("The database is locked.")


class HandingOver:
    """The store as a sink that hands the run over after its second step."""

    def __init__(self, writer: StoreWriter, commands: "queue.SimpleQueue[Command]") -> None:
        self.writer, self.commands = writer, commands

    def emit(self, event) -> None:
        self.writer.emit(event)
        if isinstance(event, StepCompleted) and event.step == 2:
            self.commands.put(HandOver())

    def congestion(self) -> None:
        return None

    def flush(self, timeout_s: float) -> bool:
        return self.writer.flush(timeout_s)

    def write_ms(self) -> float | None:
        return self.writer.write_ms()


def hand_over_a_run(writer: StoreWriter, database: Path, config: TrainConfig) -> int:
    run_id = writer.create_run(NewRun("test", config.task, config_to_json(config), config.seed, config.device))
    commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
    sink, folder = HandingOver(writer, commands), run_files_dir(database, run_id)
    assert run_in_foreground(config, claim_new_run(run_id, folder, sink), sink, commands) is RunStatus.HANDED_OVER
    assert writer.flush()
    return run_id


def record(database: Path, run_id: int):
    with StoreReader(database) as reader:
        return reader.run(run_id)


def changes(database: Path, run_id: int):
    with StoreReader(database) as reader:
        return reader.changes(run_id)


def wait_until(condition, timeout_s: float = 60) -> None:
    """Look until the condition holds: another process makes it true."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s
        threading.Event().wait(0.05)


@contextmanager
def background_run(run_id: int, database: Path, writer: StoreWriter) -> Iterator[BackgroundHandle]:
    """A process that trains the run until the block ends, also when a check in it fails."""
    handle = start_background(run_id, database, writer)
    try:
        yield handle
    finally:
        assert handle.stop(60)


def test_that_a_process_goes_on_with_the_run_and_obeys_until_it_is_stopped(tiny_model, tmp_path):
    database = tmp_path / "runs.db"
    with closing(StoreWriter.open(database)) as writer:
        run_id = hand_over_a_run(writer, database, tiny_config(tiny_model, steps=10**6))
        writer.post_command(run_id, Stop())  # left over: must not end the new process
        with background_run(run_id, database, writer) as handle:
            assert handle.run_id == run_id
            assert handle.is_running()
            handle.post(SetHyperparameters(beta=0.25))
            wait_until(lambda: changes(database, run_id) and record(database, run_id).steps_done > 2)
            assert BackgroundHandle(run_id, database, writer).is_running(), "as another window sees it"
    run = record(database, run_id)
    assert run.status is RunStatus.STOPPED
    assert [(change.name, change.new) for change in changes(database, run_id)] == [("beta", 0.25)]
    assert (run_files_dir(database, run_id) / background.LOG_NAME).exists()


def test_that_a_run_is_continued_to_its_end_in_this_process(tiny_model, tmp_path):
    database = tmp_path / "runs.db"
    with closing(StoreWriter.open(database)) as writer:
        run_id = hand_over_a_run(writer, database, tiny_config(tiny_model, steps=5))
    assert continue_run(run_id, database) is RunStatus.FINISHED
    run = record(database, run_id)
    assert (run.status, run.steps_done, run.completions) == (RunStatus.FINISHED, 5, 80)


def test_that_a_run_that_another_process_trains_is_not_continued(tiny_model, tmp_path):
    database = tmp_path / "runs.db"
    with closing(StoreWriter.open(database)) as writer:
        run_id = hand_over_a_run(writer, database, tiny_config(tiny_model, steps=10**6))
        with background_run(run_id, database, writer):
            with pytest.raises(BadInputError, match=f"Run {run_id} is being trained already"):
                TrainerThread(tiny_config(tiny_model), run_id, writer, run_files_dir(database, run_id), resume=True)
            assert writer.flush()
            assert record(database, run_id).status.is_active


def test_that_a_process_that_cannot_start_is_reported_with_its_log(tiny_model, tmp_path, monkeypatch):
    database = tmp_path / "runs.db"
    monkeypatch.setattr(background, "_arguments", lambda run_id, database: ["--no-such-option"])
    with closing(StoreWriter.open(database)) as writer:
        config = config_to_json(tiny_config(tiny_model))
        run_id = writer.create_run(NewRun("test", "compare", config, 0, "cpu"))
        with pytest.raises(TrainingError, match=r"background\.log says why"):
            start_background(run_id, database, writer)
    assert "no-such-option" in (run_files_dir(database, run_id) / background.LOG_NAME).read_text()


def test_that_an_unknown_run_is_refused(tmp_path):
    database = tmp_path / "runs.db"
    StoreWriter.open(database).close()
    with pytest.raises(BadInputError, match="no run 9"):
        continue_run(9, database)


def test_that_posted_commands_keep_their_order(tmp_path):
    table = Table()
    handle = BackgroundHandle(3, tmp_path / "none.db", table)
    for command in (Pause(), SetHyperparameters(beta=0.1), Stop()):
        handle.post(command)
    handle._posting.shutdown()
    assert table.commands == [(3, Pause()), (3, SetHyperparameters(beta=0.1)), (3, Stop())]


def test_that_a_command_that_cannot_be_posted_is_logged(tmp_path, caplog):
    table = Table()
    table.broken = True
    handle = BackgroundHandle(3, tmp_path / "none.db", table)
    with caplog.at_level(logging.WARNING):
        handle.post(Pause())
        handle._posting.shutdown()
    assert "did not reach run 3" in caplog.text


def test_that_commands_reach_the_trainers_queue_also_after_a_failure(monkeypatch, caplog):
    monkeypatch.setattr(background, "POLL_S", 0.001)
    table, commands = Table(), queue.SimpleQueue()
    table.broken = True
    table.commands = [(3, Pause()), (4, Stop())]
    with caplog.at_level(logging.WARNING), polling(3, table, commands):
        assert commands.get(timeout=30) == Pause()
    assert table.commands == [(4, Stop())]
    assert "cannot be read" in caplog.text
