"""A folder with one file of completions a step, as TRL and verl write it."""

import heapq
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grpo_gui.outside.names import NameOf
from grpo_gui.outside.pieces import Piece, Problem, RunInfo, SampleRows
from grpo_gui.outside.quiet import QUIET_S
from grpo_gui.outside.source import MAX_PROBLEMS
from grpo_gui.store.records_outside import SourceRecord

WATCHED = 3  # newest files that are looked at again, because they are written in place


@dataclass(frozen=True, slots=True)
class StepFile:
    """The file of one step. `name` is for people."""

    step: int
    path: Path
    name: str


class StepFiles:
    """The common part of such folders. A file that cannot be parsed yet is tried again when it has changed."""

    format = ""
    eps = 1e-4
    pattern = ""
    name_of: NameOf

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self._folder = folder
        self._listed = -1  # mtime of the folder
        self._files: dict[int, StepFile] = {}
        self._done: dict[int, tuple[int, int]] = {}  # step: size and mtime of what was read
        self._newest_done = -1
        self._unfinished: dict[int, tuple[int, int]] = {}  # step: what was seen of a file whose end is to come
        self._broken: dict[int, Problem] = {}
        self._waiting: list[int] = []  # listed, and not read so far
        self._watched: list[int] = []

    def read_file(self, file: StepFile, *, is_left: bool) -> SampleRows | None:
        """The rows of one file; None for one whose end is still to come.

        `is_left`: nobody writes to it any more; what cannot be read of it goes to `leave_out`.

        Raises:
            ValueError: it is damaged, or only half written.
            OSError: it cannot be read.
        """
        raise NotImplementedError

    def leave_out(self, file: StepFile, place: str, reason: str) -> None:
        """Remember that a part of a file was left out; of several the last one is told."""
        self._broken[file.step] = Problem(file.name, place, reason)

    def paths(self) -> list[Path]:
        """See `Source.paths`."""
        self._list()
        return [file.path for file in self._files.values()]

    def read(self, *, final: bool = False) -> Iterator[Piece]:
        """See `Source.read`."""
        for step in self._candidates():
            file = self._files[step]
            seen = _seen(file.path)
            if seen is None or self._done.get(step) == seen:
                continue
            is_left = final or step < max(self._files) or time.time() - seen[1] / 1e9 > QUIET_S
            if not is_left and self._unfinished.get(step) == seen:
                self._waiting.append(step)
                continue
            self._broken.pop(step, None)
            try:
                rows = self.read_file(file, is_left=is_left)
            except (ValueError, OSError) as error:
                self._broken[step] = Problem(file.name, "", str(error))
                self._done[step] = seen
                continue
            if rows is None:
                self._unfinished[step] = seen
                self._waiting.append(step)
                continue
            self._done[step] = seen
            self._newest_done = max(self._newest_done, step)
            if rows.samples:
                yield rows
        self.problems = list(self._broken.values())[:MAX_PROBLEMS]

    @property
    def bytes_read(self) -> int:
        """See `Source.bytes_read`."""
        return sum(size for size, _ in self._done.values())

    def _candidates(self) -> list[int]:
        """Steps whose file is new, or may have changed."""
        listed = self._folder.stat().st_mtime_ns
        if listed != self._listed:
            self._listed = listed
            self._list()
        waiting, self._waiting = self._waiting, []
        return sorted({*self._watched, *self._broken, *waiting})

    def _list(self) -> None:
        for path in self._folder.iterdir():
            found = re.fullmatch(self.pattern, path.name)
            if found is not None and int(found[1]) not in self._files:
                step = int(found[1])
                self._files[step] = StepFile(step, path, f"{self.name}/{path.name}")
                self._waiting.append(step)
        self._watched = heapq.nlargest(WATCHED, self._files)

    def record(self) -> SourceRecord:
        """See `Source.record`: files up to the newest one that was read are not read again, but the last few."""
        problem = self.problems[0].sentence if self.problems else ""
        return SourceRecord(self.name, state=json.dumps({"newest": self._newest_done}), problem=problem)

    def restore(self, record: SourceRecord) -> None:
        """See `Source.restore`."""
        self._newest_done = json.loads(record.state).get("newest", -1)
        if self._folder.is_dir():
            self._list()
        self._waiting = [step for step in self._waiting if step > self._newest_done]

    def describe(self, info: RunInfo) -> None:
        """See `Source.describe`: samples say nothing of the run."""


def _seen(path: Path) -> tuple[int, int] | None:
    """What tells whether a file has changed; None where it is gone."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
