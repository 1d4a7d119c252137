"""Begins a run of TRL: the run in the database, its job folder, and the process of ours that looks after both."""

import json
import logging
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Protocol

from grpo_gui.errors import BadInputError, MissingExtraError, TrainingError
from grpo_gui.events import Event, RunStatus, TrainerStatus
from grpo_gui.handover.accelerate_file import template
from grpo_gui.handover.job import OUTPUT, new_job, write_job
from grpo_gui.handover.placement import Placement, missing_trl, problems
from grpo_gui.paths import run_files_dir
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.records_outside import OutsideRun
from grpo_gui.training.background import LOG_NAME, BackgroundHandle, start_detached
from grpo_gui.training.command_table import CommandTable
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.presets import run_name
from grpo_gui.training.validation import validate

logger = logging.getLogger(__name__)

FOLDER = "trl"
START_TIMEOUT_S = 60.0
POLL_S = 0.25


class RunWriter(CommandTable, Protocol):
    """What beginning a run asks of the store's writer."""

    def create_run(self, run: NewRun) -> int:
        """Add a run; return its id."""

    def save_outside_run(self, run: OutsideRun) -> None:
        """Note where a run is made."""

    def emit(self, event: Event) -> None:
        """Take an event."""


def job_folder(database: Path, run_id: int) -> Path:
    """The folder of a run's job; what TRL writes lies in it too."""
    return (run_files_dir(database, run_id) / FOLDER).resolve()  # it is shown in commands for other places


def prepare(config: TrainConfig, place: Placement, writer: RunWriter, database: Path, accelerate: str = "") -> int:
    """Make the run and write its job; return the run's id. `accelerate` is the text of its file, "" for the template.

    Raises:
        BadInputError: the config cannot be used, or not by TRL.
        MissingExtraError: TRL is not installed.
        StoreError: the database refuses.
        TrainingError: the disk refuses.
    """
    for sentence in missing_trl():
        raise MissingExtraError(sentence)
    validate(config)
    for sentence in problems(config, place):
        raise BadInputError(sentence)
    job = new_job(run_name(config), config, place)
    run = NewRun(
        name=f"{job.name}, TRL",
        task=config.task,
        config=json.dumps({"program": "bridge", **job.options}),
        seed=config.seed,
        device=config.device,
        origin="followed",
    )
    run_id = writer.create_run(run)
    folder = job_folder(database, run_id)
    try:
        text = accelerate or (template(place, bf16=config.bf16) if place.uses_accelerate else "")
        write_job(folder, job, text)
        writer.save_outside_run(OutsideRun(run_id, str((folder / OUTPUT).resolve()), "bridge", "", ""))
    except TrainingError as error:
        writer.emit(TrainerStatus(run_id, RunStatus.FAILED, 0, str(error)))
        raise
    return run_id


def start_supervisor(run_id: int, database: Path, commands: RunWriter) -> BackgroundHandle:
    """Start the process that runs the job and follows it; it survives the window. Takes seconds.

    Raises:
        TrainingError: it did not begin; the message names its log.
    """
    log = run_files_dir(database, run_id) / LOG_NAME
    command = [sys.executable, "-m", "grpo_gui.handover", str(run_id), str(database)]
    with log.open("ab") as output:
        process = start_detached(command, output.fileno())
    if _has_begun(process, run_id, database):
        return BackgroundHandle(run_id, database, commands, process)
    sentence = f"The process that looks after TRL did not begin; {log} says why."
    commands.emit(TrainerStatus(run_id, RunStatus.FAILED, 0, sentence))
    raise TrainingError(sentence)


def _has_begun(process: "subprocess.Popen[bytes]", run_id: int, database: Path) -> bool:
    """Wait until the process has said something about its run, or has ended."""
    waiting = threading.Event()
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline_s:
        with StoreReader(database) as reader:
            run = reader.run(run_id)
        if run is not None and (run.message or run.status is not RunStatus.WARMING_UP):
            return True
        if process.poll() is not None:
            return False
        waiting.wait(POLL_S)
    return False
