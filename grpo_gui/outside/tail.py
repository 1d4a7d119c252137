"""Reads a growing text file by byte offset: whole lines only, whatever happens to the file meanwhile."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHUNK = 4 << 20
HEAD = 256  # bytes that tell a file from the one that replaced it on file systems that use inodes again
LONGEST = 256 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end. `start` and `end` are byte offsets, `number` counts from 1."""

    number: int
    start: int
    end: int
    data: bytes


class LineTail:
    """The lines of a file that came since the last call. A last line without its newline is held back.

    A file that shrank, or is another one under the same name, is read from its beginning: `segment` rises then.
    """

    def __init__(self, path: Path, *, identity: str = "", offset: int = 0, number: int = 0) -> None:
        """Begin at `offset` when the file still is the one with that `identity`, else at its start."""
        self.path = path
        self.identity = identity
        self.offset = offset  # after the newest line handed out
        self.number = number  # of the newest line handed out
        self.segment = 0
        self._seen: tuple[int, int, int] | None = None

    def lines(self, *, final: bool = False) -> Iterator[Line]:
        """The whole lines after the last one; with `final` also a last one without newline.

        Raises:
            OSError: the file cannot be read.
        """
        status = self.path.stat()
        seen = (status.st_size, status.st_mtime_ns, status.st_ino)
        if seen == self._seen and not final:
            return
        with self.path.open("rb") as file:
            self._recognise(file.read(HEAD), status.st_ino, status.st_size)
            file.seek(self.offset)
            rest = b""
            while block := file.read(CHUNK):
                *whole, rest = (rest + block).split(b"\n")
                for data in whole:
                    yield self._line(data, 1)
                if len(rest) > LONGEST:
                    yield self._line(rest, 0)
                    rest = b""
            if rest and final:
                yield self._line(rest, 0)
        self._seen = seen

    def _line(self, data: bytes, newline: int) -> Line:
        start = self.offset
        self.offset += len(data) + newline
        self.number += 1
        return Line(self.number, start, self.offset, data.removesuffix(b"\r"))

    def _recognise(self, head: bytes, inode: int, size: int) -> None:
        """Begin anew where the file is not the one that was read so far."""
        if self.identity:
            old_inode, length, digest = self.identity.split(":")
            known = int(length)
            is_same = int(old_inode) in (inode, 0) and len(head) >= known and _digest(head[:known]) == digest
            if not is_same or size < self.offset:
                self.offset = self.number = 0
                self.segment += 1
        self.identity = f"{inode}:{len(head)}:{_digest(head)}"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
