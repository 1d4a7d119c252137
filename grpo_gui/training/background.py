"""Training in a process of ours that survives the window: starting it, steering it, and what it does itself."""

import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from grpo_gui.commands import Command, Stop
from grpo_gui.errors import BadInputError, StoreError, TrainingError
from grpo_gui.events import RunStatus
from grpo_gui.paths import run_files_dir
from grpo_gui.store.lock import claimed_run
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.command_table import POLL_S, CommandTable, polling
from grpo_gui.training.rating_source import StoredRatings
from grpo_gui.training.runner import run_in_foreground
from grpo_gui.training.validation import config_from_json

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 60.0
PATIENCE_S = 10.0  # the trainer that handed the run over may still be ending
LOG_NAME = "background.log"


class BackgroundHandle:
    """A TrainerHandle for a run that another process of ours trains. `process` is that process if we started it."""

    def __init__(
        self, run_id: int, database: Path, commands: CommandTable, process: "subprocess.Popen[bytes] | None" = None
    ) -> None:
        self._run_id = run_id
        self._database = database
        self._commands = commands
        self._process = process
        # One thread: posting waits for the commit, and commands must keep their order.
        self._posting = ThreadPoolExecutor(max_workers=1, thread_name_prefix="post command")

    @property
    def run_id(self) -> int:
        """The run that this trainer trains."""
        return self._run_id

    def post(self, command: Command) -> None:
        """Leave a command in the database; it is read within a quarter of a second, after the micro-batch at hand."""
        self._posting.submit(self._post, command)

    def stop(self, timeout_s: float) -> bool:
        """Ask the trainer to save its state and end, and wait at most `timeout_s`; True when it has ended."""
        self.post(Stop())
        deadline_s = time.monotonic() + timeout_s
        ended = threading.Event()
        while self.is_running() and time.monotonic() < deadline_s:
            ended.wait(POLL_S)
        return not self.is_running()

    def is_running(self) -> bool:
        """Tell whether the process is alive; for a process that another window started, what the database says."""
        if self._process is not None:
            return self._process.poll() is None
        return _run_record(self._database, self._run_id).status.is_active

    def _post(self, command: Command) -> None:
        try:
            self._commands.post_command(self._run_id, command)
        except StoreError as error:
            logger.warning("A command did not reach run %d: %s", self._run_id, error)


def start_background(run_id: int, database: Path, commands: CommandTable) -> BackgroundHandle:
    """Start a process that goes on with a run from its saved state; returns when it has taken over the run.

    Takes seconds: call it off the GUI thread. The process writes its log into the run's folder.

    Raises:
        TrainingError: the process did not start to train; the message names its log.
    """
    before = _run_record(database, run_id).status
    commands.take_commands(run_id)  # left over for an earlier process: a stop would end the new one
    folder = run_files_dir(database, run_id)
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / LOG_NAME
    with log.open("ab") as output:
        process = start_detached([sys.executable, "-m", "grpo_gui.cli", *_arguments(run_id, database)], output.fileno())
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s:
        ended = _wait(process, POLL_S)
        if _run_record(database, run_id).status is not before:
            return BackgroundHandle(run_id, database, commands, process)
        if ended:
            break
    raise TrainingError(
        f"The background process for run {run_id} did not start to train; {log} says why. "
        "The run's state is saved, so it can be resumed here."
    )


def continue_run(run_id: int, database: Path) -> RunStatus:
    """Go on with a run from its saved state, in this process: what `grpo-gui train --continue` does.

    Commands come from the database; SIGTERM saves the state and ends the run.

    Raises:
        BadInputError: there is no such run, or another trainer has it.
        StoreError: the database cannot be used.
    """
    config = config_from_json(_run_record(database, run_id).config)
    commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
    with closing(StoreWriter.open(database)) as writer:
        claim = claimed_run(run_id, run_files_dir(database, run_id), PATIENCE_S)
        ratings = StoredRatings(database, run_id)
        with _stop_on_sigterm(commands), polling(run_id, writer, commands):
            return run_in_foreground(config, claim, writer, commands, resume=True, ratings=ratings)


def _run_record(database: Path, run_id: int) -> RunRecord:
    with StoreReader(database) as reader:
        run = reader.run(run_id)
    if run is None:
        raise BadInputError(f"There is no run {run_id} in {database}; grpo-gui runs lists them.")
    return run


def _arguments(run_id: int, database: Path) -> list[str]:
    return ["train", "--continue", str(run_id), "--db", str(database)]


def start_detached(arguments: list[str], output: int) -> "subprocess.Popen[bytes]":
    """Start a process that does not end with this one or its terminal; `output` takes what it prints."""
    flags = 0
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        creationflags=flags,
        start_new_session=os.name == "posix",
    )


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float) -> bool:
    """Wait for the end of a process; True when it came within `timeout_s`."""
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def _stop_on_sigterm(commands: "queue.SimpleQueue[Command]") -> Iterator[None]:
    """Let the end of the session (log-out, shutdown) save the state first."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        commands.put(Stop())

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
