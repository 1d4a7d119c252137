"""The way back to a run of TRL: small files in its control folder, written here and read by the bridge."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grpo_gui.outside.pieces import number, whole
from grpo_gui.outside.tail import LineTail

CONTROL = "control"
RATINGS = "ratings.jsonl"
PAUSE, RESUME, STOP, SNAPSHOT, CONTINUE = "pause", "resume", "stop", "snapshot", "continue"
COMMANDS = (PAUSE, RESUME, STOP, SNAPSHOT, CONTINUE)  # continue: without the ratings that are waited for
_NAME = re.compile(r"(\d{6,12})\.json")


class ControlReader:
    """The commands that come from now on; what lay there before belongs to an earlier process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / CONTROL
        self._done = set(self._names())

    def take(self) -> list[str]:
        """The commands that came since the last call, oldest first."""
        commands = []
        for name in sorted(self._names()):
            if name not in self._done:
                self._done.add(name)
                command = _command_in(self._folder / name)
                if command is not None:
                    commands.append(command)
        return commands

    def _names(self) -> Iterator[str]:
        try:
            yield from (name for name in os.listdir(self._folder) if _NAME.fullmatch(name))
        except FileNotFoundError:
            return


def _command_in(path: Path) -> str | None:
    try:
        command = json.loads(path.read_bytes())["command"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return command if command in COMMANDS else None


class ControlWriter:
    """Leaves commands and ratings for a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / CONTROL

    def send(self, command: str) -> None:
        """Leave a command; it is read after the step at hand.

        Raises:
            OSError: the folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(found[1]) for name in os.listdir(self.folder) if (found := _NAME.fullmatch(name)) is not None]
        name = f"{max(numbers, default=-1) + 1:06d}.json"
        draft = self.folder / f".{name}"
        draft.write_text(json.dumps({"command": command}), encoding="utf-8")
        draft.rename(self.folder / name)

    def rate(self, ratings: Sequence[Mapping[str, object]]) -> None:
        """Leave ratings: session, generation, row and rating (a number, or None for no opinion).

        Raises:
            OSError: the folder cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / RATINGS).open("ab") as file:
            file.write("".join(json.dumps(rating) + "\n" for rating in ratings).encode())


class RatingReader:
    """The ratings of a run that came so far, by session, generation and row."""

    def __init__(self, folder: Path) -> None:
        self._tail = LineTail(folder / CONTROL / RATINGS)
        self._known: dict[tuple[str, int, int], float | None] = {}

    def ratings(self, session: str, generation: int) -> dict[int, float | None]:
        """By row; a row that nobody judged is not there."""
        self._read()
        wanted = (session, generation)
        return {row: value for (*batch, row), value in self._known.items() if tuple(batch) == wanted}

    def _read(self) -> None:
        try:
            for line in self._tail.lines():
                self._take(line.data)
        except FileNotFoundError:
            return

    def _take(self, data: bytes) -> None:
        try:
            record = json.loads(data)
        except ValueError:
            return
        if isinstance(record, dict):
            generation, row = whole(record.get("generation")), whole(record.get("row"))
            if generation is not None and row is not None:
                self._known[str(record.get("session")), generation, row] = number(record.get("rating"))
