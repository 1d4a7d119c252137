"""What every format gives: sources, one a file or a folder of files for each step, that are read again and again."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from grpo_gui.outside.names import NameOf
from grpo_gui.outside.pieces import Piece, Problem, RunInfo
from grpo_gui.outside.tail import Line, LineTail
from grpo_gui.store.records_outside import SourceRecord

MAX_PROBLEMS = 100  # a file


class Source(Protocol):
    """One file, or one folder of files, of a run."""

    name: str  # path inside the run's place
    format: str
    eps: float  # that its program adds to the std of a group
    problems: list[Problem]

    @property
    def name_of(self) -> NameOf:
        """Our names for its metrics."""

    def paths(self) -> list[Path]:
        """Its files as they are there now."""

    def read(self, *, final: bool = False) -> Iterator[Piece]:
        """What came since the last call, by rising step where the file has it so; `final`: nothing more will come.

        Raises:
            OSError: the file cannot be read now.
        """

    @property
    def bytes_read(self) -> int:
        """How much of its files was read, for telling how far a long import is."""

    def record(self) -> SourceRecord:
        """How far it was read, in a form from which `restore` goes on."""

    def restore(self, record: SourceRecord) -> None:
        """Go on where an earlier process stopped."""

    def describe(self, info: RunInfo) -> None:
        """Add what the file says about the run; may be called before `read`."""


class WholeFile:
    """The common part of sources that are one file, read whole, and anew when it changed."""

    format = ""
    eps = 1e-4
    name_of: NameOf

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.path = path
        self._seen: tuple[int, int] | None = None

    def paths(self) -> list[Path]:
        """See `Source.paths`."""
        return [self.path]

    def read(self, *, final: bool = False) -> Iterator[Piece]:  # noqa: ARG002  # such a file is always complete
        """See `Source.read`."""
        status = self.path.stat()
        seen = (status.st_size, status.st_mtime_ns)
        if seen != self._seen:
            self._seen = seen
            self.problems = []
            yield from self.read_whole()

    @property
    def bytes_read(self) -> int:
        """See `Source.bytes_read`."""
        return 0 if self._seen is None else self._seen[0]

    def read_whole(self) -> Iterator[Piece]:
        """All pieces; what cannot be read goes to `note`."""
        raise NotImplementedError

    def forget(self) -> None:
        """Read it again next time."""
        self._seen = None

    def record(self) -> SourceRecord:
        """See `Source.record`."""
        return SourceRecord(self.name, problem=self.problems[0].sentence if self.problems else "")

    def restore(self, record: SourceRecord) -> None:
        """See `Source.restore`: it is read whole again."""

    def describe(self, info: RunInfo) -> None:
        """See `Source.describe`: nothing by default."""

    def note(self, reason: str, place: str = "") -> None:
        """Remember that something was left out."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.name, place, reason))


class LineSource:
    """The common part of sources that are made of lines."""

    format = ""
    eps = 1e-4
    name_of: NameOf

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.highest = -1  # step
        self._tail = LineTail(path)
        self._segment = 0

    def paths(self) -> list[Path]:
        """See `Source.paths`."""
        return [self._tail.path]

    def read(self, *, final: bool = False) -> Iterator[Piece]:
        """See `Source.read`."""
        for line in self._tail.lines(final=final):
            if self._tail.segment != self._segment:
                self._segment = self._tail.segment
                self.restarted()
            if line.data.strip():
                yield from self.parse(line)

    @property
    def bytes_read(self) -> int:
        """See `Source.bytes_read`."""
        return self._tail.offset

    def parse(self, line: Line) -> Iterator[Piece]:
        """The pieces of a line; what it cannot read goes to `note`."""
        raise NotImplementedError

    def restarted(self) -> None:
        """The file was begun anew."""

    def record(self) -> SourceRecord:
        """See `Source.record`."""
        state = json.dumps({"highest": self.highest, "line": self._tail.number, **self.memory()})
        problem = self.problems[0].sentence if self.problems else ""
        return SourceRecord(self.name, self._tail.identity, self.kept_offset(), state, problem)

    def memory(self) -> dict[str, object]:
        """What else must be remembered, as JSON."""
        return {}

    def kept_offset(self) -> int:
        """Up to where everything is handed over."""
        return self._tail.offset

    def restore(self, record: SourceRecord) -> None:
        """See `Source.restore`."""
        state = json.loads(record.state)
        self.highest = state.get("highest", -1)
        self.remember(state)
        self._tail = LineTail(
            self._tail.path, identity=record.identity, offset=record.offset, number=state.get("line", 0)
        )

    def remember(self, state: Mapping[str, object]) -> None:
        """Take back what `memory` gave."""

    def describe(self, info: RunInfo) -> None:
        """See `Source.describe`: nothing by default."""

    def note(self, line: Line, reason: str) -> None:
        """Remember that a line was left out."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.name, f"line {line.number}", reason))

    def restarts_at(self, step: int) -> bool:
        """True when the step is not above all before: the run may have been resumed from an earlier one."""
        is_again = step <= self.highest
        self.highest = max(self.highest, step)
        return is_again

    def json_object(self, line: Line) -> dict[str, object] | None:
        """The line as a JSON object; None, with a note, when it is none."""
        try:
            value = json.loads(line.data)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            self.note(line, f"no JSON ({reason})")
            return None
        if not isinstance(value, dict):
            self.note(line, "no JSON object")
            return None
        return value
