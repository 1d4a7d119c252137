"""A folder on another machine, read through the user's own ssh: one connection, no program of ours over there.

The other machine needs a POSIX shell with find (GNU), tail, head, base64 and cat: any Linux has them.
"""

import base64
import binascii
import hashlib
import os
import queue
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from grpo_gui.errors import BadInputError
from grpo_gui.outside.control import CONTROL, RATINGS
from grpo_gui.outside.places import LocalPlace, Place
from grpo_gui.outside.tail import HEAD

END = "== end =="
CHUNK = 1 << 20
TIMEOUT_S = 20.0
RETRY_S = 3.0
_NAMES = (  # what can be a source
    *("*.jsonl", "*.csv", "*.json", "*.ndjson", "*.log", "*.txt", "*.parquet", "*tfevents*"),
)
_GROWS = re.compile(r".*(\.jsonl|\.ndjson|\.csv|\.log|\.txt|tfevents[^/]*)")
_MAX_WHOLE = 256 << 20


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file over there."""

    inode: int
    size: int
    changed: str
    name: str


class SshPlace:
    """Keeps a copy of the other machine's folder in `cache`; what was copied is not copied again."""

    def __init__(self, url: str, cache: Path) -> None:
        """Read `ssh://[user@]host[:port]/path`.

        Raises:
            BadInputError: it is no such address.
        """
        parts = urlsplit(url)
        if parts.scheme != "ssh" or not parts.hostname or not parts.path.strip("/") or parts.hostname.startswith("-"):
            raise BadInputError(f"{url!r} is no place to follow; write ssh://host/path, as ssh knows the host.")
        try:
            self._port = parts.port
        except ValueError as error:
            raise BadInputError(f"{url!r} has no port that can be ({error}); write ssh://host:22/path.") from error
        user = f"{parts.username}@" if parts.username else ""
        self.name = url
        self._host = f"{user}{parts.hostname}"
        self._path = unquote(parts.path).removeprefix("/~/") if parts.path.startswith("/~/") else unquote(parts.path)
        self.folder = cache / hashlib.blake2b(url.encode(), digest_size=8).hexdigest() / PurePosixPath(self._path).name
        self._known: dict[str, _Entry] = {}
        self._shell: _Shell | None = None
        self._trouble, self._retry_s = "", -RETRY_S

    def refresh(self) -> str:
        """See `Place.refresh`."""
        if time.monotonic() < self._retry_s:
            return self._trouble
        try:
            for entry in self._list():
                self._copy(entry)
            self._trouble = ""
        except _ShellError as error:
            self.close()
            self._retry_s = time.monotonic() + RETRY_S
            self._trouble = f"{self._host} does not answer ({error}); following tries again."
        return self._trouble

    def send(self, inside: str, command: str) -> None:
        """See `Place.send`."""
        text = f'{{"command": "{command}"}}'
        folder = shlex.quote(f"{self._path}/{inside}/{CONTROL}")
        self._run(
            f"mkdir -p {folder} && cd {folder} && n=$(ls | grep -cE '^[0-9]+\\.json$'); "
            f"f=$(printf %06d $n); printf %s {shlex.quote(text)} > .$f && mv .$f $f.json; cd - > /dev/null"
        )

    def rate(self, inside: str, ratings: list[dict[str, object]]) -> None:
        """See `Place.rate`."""
        import json

        lines = "".join(json.dumps(rating) + "\n" for rating in ratings)
        folder = shlex.quote(f"{self._path}/{inside}/{CONTROL}")
        self._run(f"mkdir -p {folder} && printf %s {shlex.quote(lines)} >> {folder}/{RATINGS}")

    def close(self) -> None:
        """End the connection."""
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    # -- inside ---------------------------------------------------------------------------------------

    def _run(self, command: str) -> list[str]:
        if self._shell is None:
            port = [] if self._port is None else ["-p", str(self._port)]
            self._shell = _Shell(["ssh", "-o", "BatchMode=yes", *port, "--", self._host, "exec sh"])
        return self._shell.run(command)

    def _list(self) -> Iterator[_Entry]:
        names = " -o ".join(f"-name {shlex.quote(name)}" for name in _NAMES)
        path = shlex.quote(self._path)
        command = (
            f"if [ -d {path} ]; then find {path} -maxdepth 5 -type f \\( {names} \\) -printf '%i %s %T@ %P\\n'; "
            f"elif [ -f {path} ]; then find {path} -printf '%i %s %T@ \\n'; fi"
        )
        for line in self._run(command):
            inode, size, changed, name = line.split(" ", 3)
            if ".." not in PurePosixPath(name).parts and "\\" not in name:
                yield _Entry(int(inode), int(size), changed, name)

    def _copy(self, entry: _Entry) -> None:
        before = self._known.get(entry.name)
        if before == entry:
            return
        target = self.folder / entry.name if entry.name else self.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        have = target.stat().st_size if target.exists() else 0
        remote = f"{self._path}/{entry.name}" if entry.name else self._path
        grows = _GROWS.fullmatch(entry.name or self._path) is not None
        is_same = grows and (before is None or before.inode == entry.inode) and 0 < have <= entry.size
        if is_same and self._agrees(target, remote):
            self._append(target, remote, have, entry.size)
        elif grows or entry.size <= _MAX_WHOLE:
            draft = target.with_name(f".{target.name}.part")
            draft.unlink(missing_ok=True)
            draft.touch()
            self._append(draft, remote, 0, entry.size)
            os.replace(draft, target)
        self._known[entry.name] = entry

    def _agrees(self, target: Path, remote: str) -> bool:
        """True when the copy begins as the original does: it is the same file, grown."""
        with target.open("rb") as file:
            head = file.read(HEAD)
        return self._fetch(remote, 0, len(head)) == head

    def _append(self, target: Path, remote: str, start: int, end: int) -> None:
        with target.open("ab") as file:
            while start < end:
                data = self._fetch(remote, start, min(CHUNK, end - start))
                if not data:
                    return  # it shrank meanwhile: the next look sees it
                file.write(data)
                start += len(data)

    def _fetch(self, remote: str, start: int, count: int) -> bytes:
        lines = self._run(f"tail -c +{start + 1} {shlex.quote(remote)} | head -c {count} | base64")
        try:
            return base64.b64decode("".join(lines), validate=True)
        except binascii.Error as error:
            raise _ShellError(f"it sent something unexpected: {lines[:1]}") from error


class _ShellError(OSError):
    """The other machine does not answer as it should."""


class _Shell:
    """A shell over there that runs one command after the other."""

    def __init__(self, arguments: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise _ShellError(f"ssh cannot be started: {error}") from error
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors: list[bytes] = []
        self._threads = [
            threading.Thread(target=self._read, name="ssh output", daemon=True),
            threading.Thread(target=self._read_errors, name="ssh errors", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def run(self, command: str) -> list[str]:
        """The lines that a command prints.

        Raises:
            _ShellError: the connection ended, or nothing came for a long time.
        """
        stdin = self._process.stdin
        try:
            if stdin is not None:
                stdin.write(f"{command}\necho; echo '{END}'\n".encode())
                stdin.flush()
        except OSError as error:
            raise _ShellError(self._reason()) from error
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=TIMEOUT_S)
            except queue.Empty:
                raise _ShellError(f"nothing came for {TIMEOUT_S:.0f} s") from None
            if line is None:
                raise _ShellError(self._reason())
            text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
            if text == END:
                return [line for line in lines if line]
            lines.append(text)

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(TIMEOUT_S)
        for thread in self._threads:
            thread.join(TIMEOUT_S)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(BrokenPipeError):  # a command that it never took
                if stream is not None:
                    stream.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        for line in self._process.stderr or ():
            self._errors = [*self._errors[-5:], line]

    def _reason(self) -> str:
        self._threads[1].join(1.0)
        said = b" ".join(line.strip() for line in self._errors).decode("utf-8", "replace").strip()
        return said.rstrip(".") or "the connection ended"


def place_of(text: str, database: Path) -> Place:
    """A folder or file of this machine, or one behind ssh whose copy lies beside the database.

    Raises:
        BadInputError: it is neither.
    """
    if "://" in text:
        return SshPlace(text, database.parent / f"{database.stem}-followed")
    return LocalPlace(Path(text))
