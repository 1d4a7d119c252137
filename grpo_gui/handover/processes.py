"""TRL's processes: starting them, waiting for their end, and naming the one that died."""

import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from grpo_gui.errors import TrainingError
from grpo_gui.handover.commands import local_command
from grpo_gui.handover.job import LOG, Job
from grpo_gui.handover.lifeline import VARIABLE

LOG_TAIL = 256 << 10
SHOWN = 300  # characters of an error
# torchrun and accelerate print one such part for each failed process, that of the first one last.
_FAILURE = re.compile(
    r"\n  rank +: (?P<rank>\d+).*?\n  exitcode +: (?P<code>-?\d+)(?P<rest>.*?)(?=\n\[\d+\]:|\n-{20}|\n={20}|\Z)", re.S
)
# It says this first, and nothing else where it fails itself: it stumbles over what dying processes half wrote.
_NOTICED = re.compile(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+)(?P<rest>)")
_CLASS = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): ")


class Processes:
    """The processes of a job on this machine."""

    def __init__(self, folder: Path, job: Job) -> None:
        """Start them; what they print goes to the job's log.

        Raises:
            TrainingError: they cannot be started.
        """
        self.log = folder / LOG
        self._job = job
        self._seen: set[psutil.Process] = set()
        environment = os.environ | {"OMP_NUM_THREADS": str(job.config.threads), "PYTHONUNBUFFERED": "1"}
        environment[VARIABLE] = "1"
        if job.config.device.startswith("cuda:"):
            environment["CUDA_VISIBLE_DEVICES"] = job.config.device.removeprefix("cuda:")
        try:
            with self.log.open("ab") as output:
                self._process = subprocess.Popen(
                    local_command(folder, job.place),
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=os.name == "posix",
                )
        except OSError as error:
            raise TrainingError(f"TRL cannot be started ({error}); check the disk and rights of {folder}.") from error

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end of all; True when it came within `timeout_s`."""
        with suppress(psutil.NoSuchProcess):
            self._seen.update(psutil.Process(self._process.pid).children(recursive=True))
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self._end_orphans()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return True

    def terminate(self) -> None:
        """Ask them to end at once."""
        self._process.terminate()

    def kill(self, grace_s: float) -> None:
        """End them, by force when `grace_s` is over."""
        self.terminate()
        if not self.wait(grace_s):
            self._process.kill()
            self.wait(grace_s)

    def failure(self) -> str:
        """Once they have ended: which of them failed and how, as a sentence; "" when all did their work."""
        if self._process.returncode == 0:
            return ""
        return failure_sentence(self._process.returncode, _tail(self.log), self._job.place.world_size, self.log)

    def _end_orphans(self) -> None:
        """End what outlived its launcher: it would train on without anybody who waits for it."""
        for process in self._seen:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._seen.clear()


def failure_sentence(code: int, printed: str, world_size: int, log: Path) -> str:
    """Which process failed and how.

    Args:
        code: how the first process of ours ended: TRL itself, or the launcher of several.
        printed: the end of what was printed.
        world_size: processes of the job.
        log: where all of it stands.
    """
    who, reason = ("Rank 0" if world_size == 1 else "TRL's launcher"), _last_line(printed)
    cause = _first_cause(list(_FAILURE.finditer(printed)) or list(_NOTICED.finditer(printed)))
    if cause is not None:
        who, code, reason = f"Rank {cause['rank']}", int(cause["code"]), _last_line(cause["rest"])
    if code < 0:
        others = "; the other ranks were ended with it" if world_size > 1 else ""
        return f"{who} ended with {_signal_name(-code)}{others}. What was recorded until then is kept; see {log}."
    said = f": {reason.rstrip('.')}" if reason else ""
    return f"{who} ended with exit code {code}{said}. The whole story is in {log}."


def _first_cause(failures: "list[re.Match[str]]") -> "re.Match[str] | None":
    """The failure that brought the others about: a killed process before those that lost their connection to it."""
    killed = [one for one in failures if int(one["code"]) < 0 and int(one["code"]) != -signal.SIGTERM]
    found = killed or failures
    return found[-1] if found else None


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = _CLASS.sub("", lines[-1]) if lines else ""
    return line if len(line) <= SHOWN else f"{line[:SHOWN]}\u2026"


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_TAIL))
        return file.read().decode("utf-8", "replace")
