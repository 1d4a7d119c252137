"""A job: the folder that TRL's processes read what to do from. Every file in it is text that a person can edit."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grpo_gui.errors import BadInputError, TrainingError
from grpo_gui.handover.accelerate_file import NAME as ACCELERATE
from grpo_gui.handover.commands import shown_commands
from grpo_gui.handover.options import Options, grpo_options
from grpo_gui.handover.placement import Placement
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_from_json

JOB = "job.json"
MODEL = "model"  # the built-in model, written into the folder
OUTPUT = "output"  # TRL's output_dir
LOG = "trl.log"
COMMANDS = "commands.txt"  # to type on each of several machines
VERSION = 1


@dataclass(frozen=True, slots=True)
class Job:
    """What TRL shall do. `options` are the arguments of its GRPOConfig, without `output_dir`."""

    name: str
    config: TrainConfig
    place: Placement
    options: Options


def new_job(name: str, config: TrainConfig, place: Placement) -> Job:
    """The job for a config that `problems` has nothing against."""
    return Job(name, config, place, grpo_options(config, place))


def write_job(folder: Path, job: Job, accelerate: str = "") -> None:
    """Write a job into its folder, which is made; `accelerate` is the text of accelerate's file, when it is used.

    Raises:
        TrainingError: the disk refuses.
    """
    content = {
        "version": VERSION,
        "name": job.name,
        "place": asdict(job.place),
        "trl": job.options,
        "config": asdict(job.config),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if job.place.uses_accelerate:
            (folder / ACCELERATE).write_text(accelerate, encoding="utf-8")
        if job.place.machines > 1:
            text = "".join(f"{command}\n" for command in shown_commands(folder, job.place))
            (folder / COMMANDS).write_text(text, encoding="utf-8")
        part = folder / f"{JOB}.part"
        part.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, folder / JOB)
    except OSError as error:
        raise TrainingError(f"The job cannot be written to {folder} ({error}); check its disk and rights.") from error


def read_job(folder: Path) -> Job:
    """Read a job, as it was written or as a person has changed it.

    Raises:
        BadInputError: there is no job, or it is not one.
    """
    path = folder / JOB
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"There is no job in {folder} ({error.strerror}); start the run again.") from error
    except ValueError as error:
        raise BadInputError(f"{path} is not JSON ({error}); mend it, or start the run again.") from error
    try:
        return _job(content)
    except (KeyError, TypeError) as error:
        raise BadInputError(f"{path} is no job of this version ({error}); start the run again.") from error


def _job(content: dict[str, Any]) -> Job:
    if content["version"] != VERSION:
        raise BadInputError(f"The job is of version {content['version']}; this program reads version {VERSION}.")
    options = content["trl"]
    if not isinstance(options, dict):
        raise TypeError("trl must be an object of options")
    config = config_from_json(json.dumps(content["config"]))
    return Job(str(content["name"]), config, Placement(**content["place"]), options)
