"""Writes what a TRL run does, one append-only file of JSON lines a rank. Needs neither TRL nor torch."""

import json
import math
import os
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from grpo_gui.outside.trl_end import expect_end, has_ended

VERSION = 1
FOLDER = "grpo_gui"
PLACE_VARIABLE = "GRPO_GUI_DIR"
_recorders: dict[tuple[str, int], "Recorder"] = {}


def folder_for(output_dir: str) -> Path:
    """Where a run is recorded: the folder that GRPO_GUI_DIR names, else grpo_gui in its output folder."""
    return Path(os.environ.get(PLACE_VARIABLE) or Path(output_dir) / FOLDER).absolute()


def recorder_for(folder: Path, rank: int) -> "Recorder":
    """The one recorder of this process for a folder and rank."""
    key = (str(folder), rank)
    if key not in _recorders:
        _recorders[key] = Recorder(folder, rank)
    return _recorders[key]


class Recorder:
    """Appends events; each write is complete lines, flushed, so that a crash leaves at most one torn line."""

    def __init__(self, folder: Path, rank: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.rank = folder, rank
        self.session = secrets.token_hex(8)
        self.generation = -1  # of the newest samples
        self._step = 0  # of the newest event
        self._path = folder / f"rank{rank}.jsonl"
        self._seq = _next_seq(self._path)

    def start(self, step: int, values: Mapping[str, object]) -> None:
        """The run begins, or goes on after `step` complete steps. A crash of this process is recorded as its end."""
        self.session = secrets.token_hex(8)
        self.generation = -1
        self.write("start", step, [{"steps_done": step, "pid": os.getpid(), "host": socket.gethostname(), **values}])
        expect_end(str(self._path), self._end)

    def _end(self, status: str, message: str) -> None:
        self.write("end", self._step, [{"status": status, "message": message}])

    def write(self, kind: str, step: int, events: Sequence[Mapping[str, object]]) -> None:
        """Append events of one kind and step.

        Raises:
            OSError: the disk does not take them.
        """
        now = time.time()
        lines = []
        self._step = step
        if kind == "end":
            has_ended(str(self._path))
        for event in events:
            head = {"v": VERSION, "seq": self._seq, "rank": self.rank, "session": self.session, "kind": kind}
            plain_event = plain({**head, "step": step, "time": now, **event})
            lines.append(json.dumps(plain_event, ensure_ascii=False, allow_nan=False) + "\n")
            self._seq += 1
        with self._path.open("ab") as file:
            file.write("".join(lines).encode("utf-8", "backslashreplace"))


def plain(value: object) -> object:
    """A value as JSON has it: numbers that are not finite become the strings NaN, Infinity, -Infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return str(value)


def _next_seq(path: Path) -> int:
    """One more than the last number in the file. A torn last line is ended, so that the next one stands alone."""
    try:
        data = path.read_bytes()[-(1 << 20) :]
    except FileNotFoundError:
        return 0
    if data and not data.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
    for line in reversed(data.split(b"\n")):
        try:
            return int(json.loads(line)["seq"]) + 1
        except (ValueError, KeyError, TypeError):
            continue
    return 0
