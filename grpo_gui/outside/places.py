"""Where a followed run lies: a folder of this machine, or one of another machine that ssh reaches."""

from pathlib import Path
from typing import Protocol

from grpo_gui.errors import BadInputError
from grpo_gui.outside.control import ControlWriter


class Place(Protocol):
    """The folder of a run, here or elsewhere."""

    @property
    def name(self) -> str:
        """Absolute path, or ssh://host/path."""

    @property
    def folder(self) -> Path:
        """The local folder, or file, to read: the place itself or a copy of it."""

    def refresh(self) -> str:
        """Bring the copy up to date; a sentence when the other machine does not answer, else empty."""

    def send(self, inside: str, command: str) -> None:
        """Leave a command for our bridge, whose folder lies `inside` the place.

        Raises:
            OSError: it cannot be left.
        """

    def rate(self, inside: str, ratings: list[dict[str, object]]) -> None:
        """Leave ratings for our bridge.

        Raises:
            OSError: they cannot be left.
        """

    def close(self) -> None:
        """End what was opened."""


class LocalPlace:
    """A folder or file of this machine; it need not be there yet."""

    def __init__(self, path: Path) -> None:
        """Take a path; raises BadInputError where it is none (a link to itself, an unknown user)."""
        try:
            self.folder = path.expanduser().resolve()
            self.folder.exists()  # a name that is too long is told here
        except (OSError, RuntimeError) as error:
            raise BadInputError(f"{path} cannot be followed ({error}); give the folder of a run.") from error
        self.name = str(self.folder)

    def refresh(self) -> str:
        """Nothing to do: what is read is the place itself."""
        return ""

    def send(self, inside: str, command: str) -> None:
        """See `Place.send`."""
        ControlWriter(self.folder / inside).send(command)

    def rate(self, inside: str, ratings: list[dict[str, object]]) -> None:
        """See `Place.rate`."""
        ControlWriter(self.folder / inside).rate(ratings)

    def close(self) -> None:
        """Nothing to do."""
