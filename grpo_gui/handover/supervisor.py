"""Looks after a job of TRL: starts its processes, follows what they record, and says how it ended."""

import logging
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

from grpo_gui.errors import BadInputError, GrpoGuiError, ModelError
from grpo_gui.events import RunStarted, RunStatus, TrainerStatus
from grpo_gui.handover.job import COMMANDS, MODEL, OUTPUT, Job, read_job
from grpo_gui.handover.processes import Processes
from grpo_gui.handover.starting import job_folder
from grpo_gui.outside.control import STOP, ControlWriter
from grpo_gui.outside.following import Follower
from grpo_gui.outside.places import LocalPlace
from grpo_gui.outside.trl_record import FOLDER
from grpo_gui.paths import run_files_dir
from grpo_gui.store.lock import claimed_run
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter

logger = logging.getLogger(__name__)

POLL_S = 0.25
GRACE_S = 5.0  # between asking processes to end and ending them by force
LAST_LOOK_S = 1.5  # for reading what the processes left

Watch = Callable[[], None]


def supervise(run_id: int, database: Path, watch: Watch = lambda: None) -> RunStatus:
    """Run the job of a run to its end and return how it ended. Must run in the main thread.

    `watch` is called a few times a second. SIGTERM and SIGINT stop TRL after its step at hand; a second one ends it.

    Raises:
        BadInputError: another process looks after the run.
        StoreError: the database cannot be used.
    """
    with closing(StoreWriter.open(database)) as writer, claimed_run(run_id, run_files_dir(database, run_id)):
        try:
            _Supervisor(run_id, database, writer, watch).run()
        except GrpoGuiError as error:
            writer.emit(TrainerStatus(run_id, RunStatus.FAILED, _steps(run_id, database), str(error)))
            raise
    return _status(run_id, database)


class _Supervisor:
    """One job from its beginning to its end."""

    def __init__(self, run_id: int, database: Path, writer: StoreWriter, watch: Watch) -> None:
        self._run_id, self._database, self._writer, self._watch = run_id, database, writer, watch
        self._folder = job_folder(database, run_id)
        self._output = self._folder / OUTPUT
        self._job = read_job(self._folder)
        self._control = ControlWriter(self._output / FOLDER)
        self._interrupts = 0

    def run(self) -> None:
        self._output.mkdir(parents=True, exist_ok=True)
        self._writer.emit(RunStarted(self._run_id, 0, self._job.config.device, 0, ()))  # this process owns the run
        sentence = starting_sentence(self._job, self._folder)
        self._writer.emit(TrainerStatus(self._run_id, RunStatus.WARMING_UP, 0, sentence))
        self._writer.flush()  # from here on the run is this process's to follow
        if self._job.config.model == "builtin":
            copy_builtin_model(self._folder / MODEL)
        follower = Follower(LocalPlace(self._output), self._writer)
        with self._stopping_on_signals(), closing(follower):
            is_elsewhere = self._job.place.machines > 1
            failure = self._wait_for_others(follower) if is_elsewhere else self._wait_for_processes(follower)
        self._finish(failure)

    def _wait_for_processes(self, follower: Follower) -> str:
        processes = Processes(self._folder, self._job)
        try:
            while not processes.wait(POLL_S):
                follower.poll()
                self._watch()
                if self._interrupts > 1:
                    processes.terminate()
        finally:
            processes.kill(GRACE_S)
        self._look_once_more(follower)
        return processes.failure()

    @staticmethod
    def _look_once_more(follower: Follower) -> None:
        """Read what the processes left; a new file is looked for once a second."""
        waiting, deadline_s = threading.Event(), time.monotonic() + LAST_LOOK_S
        while follower.poll() or time.monotonic() < deadline_s:
            waiting.wait(POLL_S)

    def _wait_for_others(self, follower: Follower) -> str:
        """Follow processes that people start on several machines, until they have said that they ended."""
        waiting = threading.Event()
        while follower.ended is None and self._interrupts < 2:
            if self._interrupts and not any((self._output / FOLDER).glob("rank*.jsonl")):
                break  # nobody has started yet who could be asked to stop
            follower.poll()
            self._watch()
            waiting.wait(POLL_S)
        return ""

    def _finish(self, failure: str) -> None:
        self._writer.flush()
        status, steps = _status(self._run_id, self._database), _steps(self._run_id, self._database)
        if failure and self._interrupts < 2:
            self._writer.emit(TrainerStatus(self._run_id, RunStatus.FAILED, steps, failure))
        elif status not in (RunStatus.FINISHED, RunStatus.STOPPED, RunStatus.FAILED):
            self._writer.emit(TrainerStatus(self._run_id, RunStatus.STOPPED, steps, "TRL was ended."))

    @contextmanager
    def _stopping_on_signals(self) -> Iterator[None]:
        def stop(_number: int, _frame: FrameType | None) -> None:
            self._interrupts += 1
            if self._interrupts == 1:
                self._control.send(STOP)

        before = [(number, signal.signal(number, stop)) for number in (signal.SIGTERM, signal.SIGINT)]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)


def starting_sentence(job: Job, folder: Path) -> str:
    """What is said while the processes start."""
    place = job.place
    if place.machines > 1:
        where = folder / COMMANDS
        return (
            f"Waiting for {place.world_size} processes on {place.machines} machines; {where} says how they are started."
        )
    return "TRL is starting." if place.processes == 1 else f"TRL is starting {place.processes} processes."


def copy_builtin_model(folder: Path) -> None:
    """Write the built-in model as a folder that transformers loads.

    Raises:
        ModelError: it is missing, or the disk refuses.
    """
    from grpo_gui.language.loading import builtin_folder  # imports torch

    if folder.exists():
        return
    try:
        shutil.copytree(builtin_folder(), folder)
    except OSError as error:
        raise ModelError(f"The built-in model cannot be written to {folder} ({error}); check the disk.") from error


def _status(run_id: int, database: Path) -> RunStatus:
    with StoreReader(database) as reader:
        run = reader.run(run_id)
    if run is None:
        raise BadInputError(f"There is no run {run_id} in {database}; grpo-gui runs lists them.")
    return run.status


def _steps(run_id: int, database: Path) -> int:
    with StoreReader(database) as reader:
        run = reader.run(run_id)
    return 0 if run is None else run.steps_done
