"""TensorBoard's event files, read without TensorBoard: records of a length, its checksum, a protobuf, its checksum.

Source of the layout: tensorflow/core/lib/io/record_writer.h and tensorflow/core/util/event.proto.
"""

import json
import math
import struct
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from grpo_gui.outside.arguments import take_arguments
from grpo_gui.outside.names import trl_name
from grpo_gui.outside.pieces import Piece, Problem, RunInfo, ScalarRow
from grpo_gui.outside.source import MAX_PROBLEMS
from grpo_gui.store.records_outside import SourceRecord

_HEAD = struct.Struct("<QI")
_MAX_RECORD = 256 << 20
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT, _DOUBLE, _STRING = 1, 2, 7  # TensorFlow's DataType
SETTINGS_TAG = "args/text_summary"
_FIRST_EVENTS = 20
FIRST_RECORD = b"brain.Event:"


class Event(NamedTuple):
    """The scalars of one event."""

    time_s: float
    step: int
    scalars: tuple[tuple[str, float], ...]
    settings: str = ""  # JSON that transformers leaves as a text


def is_event_file(head: bytes) -> bool:
    """True for the beginning of an event file: its first record names the version."""
    return FIRST_RECORD in head[:64] and len(head) >= _HEAD.size and _has_head(head)


class TensorBoardFile:
    """One event file; it only grows. Scalars of one step make one row."""

    format = "tensorboard"
    eps = 1e-4
    name_of = staticmethod(trl_name)

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.highest = -1
        self._path = path
        self._offset = 0
        self._is_broken = False

    def paths(self) -> list[Path]:
        """See `Source.paths`."""
        return [self._path]

    def read(self, *, final: bool = False) -> Iterator[Piece]:
        """See `Source.read`. After a damaged record nothing can be found any more, so the file ends there."""
        row: dict[str, float] = {}
        step, time_s = -1, 0.0
        for event in self._events(final=final):
            if not event.scalars:
                continue
            if row and event.step != step:
                yield self._row(step, row, time_s)
                row = {}
            step, time_s = event.step, event.time_s
            row |= event.scalars
        if row:
            yield self._row(step, row, time_s)

    def _row(self, step: int, values: dict[str, float], time_s: float) -> ScalarRow:
        may_restart = step < self.highest
        self.highest = max(self.highest, step)
        return ScalarRow(step, values, time_s if math.isfinite(time_s) else None, may_restart)

    def _events(self, *, final: bool) -> Iterator[Event]:
        if self._is_broken or self._path.stat().st_size <= self._offset:
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while True:
                head = file.read(_HEAD.size)
                if len(head) < _HEAD.size:
                    if head and final:
                        self._note("the last record is cut off")
                    return
                length = _HEAD.unpack(head)[0]
                if not _has_head(head) or length > _MAX_RECORD:
                    self._break("the length of a record does not fit its checksum; the rest is left out")
                    return
                data = file.read(length + 4)
                if len(data) < length + 4:
                    if final:
                        self._note("the last record is cut off")
                    return
                event = self._parsed(data[:length])
                self._offset += _HEAD.size + length + 4
                if event is not None and (event.scalars or event.settings):
                    yield event

    def _parsed(self, data: bytes) -> Event | None:
        try:
            return parse_event(data)
        except (ValueError, struct.error, OverflowError) as error:
            self._note(f"a record cannot be read ({error})")
            return None

    def _break(self, reason: str) -> None:
        self._is_broken = True
        self._note(reason)

    def _note(self, reason: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(self.name, f"byte {self._offset}", reason))

    @property
    def bytes_read(self) -> int:
        """See `Source.bytes_read`."""
        return self._offset

    def record(self) -> SourceRecord:
        """See `Source.record`."""
        state = json.dumps({"highest": self.highest})
        problem = self.problems[0].sentence if self.problems else ""
        return SourceRecord(self.name, "", self._offset, state, problem)

    def restore(self, record: SourceRecord) -> None:
        """See `Source.restore`."""
        self._offset = record.offset
        self.highest = json.loads(record.state).get("highest", -1)

    def describe(self, info: RunInfo) -> None:
        """See `Source.describe`: transformers writes its arguments as a text before the first scalar."""
        first = TensorBoardFile(self._path, self.name)
        for event in islice(first._events(final=False), _FIRST_EVENTS):
            try:
                settings = json.loads(event.settings) if event.settings else None
            except (ValueError, RecursionError):
                continue
            if isinstance(settings, dict):
                take_arguments(info, settings)


def parse_event(data: bytes) -> Event:
    """Parse one Event message.

    Raises:
        ValueError: it is no such message.
    """
    time_s, step = 0.0, 0
    scalars: list[tuple[str, float]] = []
    settings = ""
    for number, kind, value in _fields(data):
        if (number, kind) == (1, _FIXED64):
            time_s = float(struct.unpack("<d", value)[0])
        elif (number, kind) == (2, _VARINT):
            step = int.from_bytes(value, "little")
        elif (number, kind) == (5, _BYTES):
            for tag, content in _summary(value):
                if isinstance(content, float):
                    scalars.append((tag, content))
                elif tag == SETTINGS_TAG:
                    settings = content
    if step >= 2**53:
        raise ValueError(f"its step is {step}")
    return Event(time_s, step, tuple(scalars), settings)


def _summary(data: bytes) -> Iterator[tuple[str, float | str]]:
    for number, kind, value in _fields(data):
        if (number, kind) == (1, _BYTES):
            tag: str = ""
            scalar: float | str | None = None
            for part, part_kind, content in _fields(value):
                if (part, part_kind) == (1, _BYTES):
                    tag = content.decode("utf-8", "replace")
                elif (part, part_kind) == (2, _FIXED32):
                    scalar = float(struct.unpack("<f", content)[0])
                elif (part, part_kind) == (8, _BYTES):
                    scalar = _tensor(content)
            if tag and scalar is not None:
                yield tag, scalar


def _tensor(data: bytes) -> float | str | None:
    """A tensor that holds one float, double or text; None for every other."""
    dtype, content = 0, b""
    for number, kind, value in _fields(data):
        if (number, kind) == (1, _VARINT):
            dtype = int.from_bytes(value, "little")
        elif number in (4, 5, 6, 8) and kind in (_BYTES, _FIXED32, _FIXED64):
            content = value
    if dtype == _FLOAT and len(content) == 4:
        return float(struct.unpack("<f", content)[0])
    if dtype == _STRING:
        return content.decode("utf-8", "replace")
    if dtype == _DOUBLE and len(content) == 8:
        return float(struct.unpack("<d", content)[0])
    return None


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The fields of a protobuf message: number, wire type, content (a varint as 8 little-endian bytes)."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield key >> 3, kind, (value & (2**64 - 1)).to_bytes(8, "little")
            continue
        if kind == _BYTES:
            size, place = _varint(data, place)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if place + size > len(data):
            raise ValueError("a field is cut off")
        yield key >> 3, kind, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(data):
            raise ValueError("a number is cut off")
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number is too long")


def _has_head(head: bytes) -> bool:
    """True when the checksum fits the length (that of the content costs too much in Python)."""
    length, checksum = head[:8], _HEAD.unpack(head[: _HEAD.size])[1]
    crc = _crc32c(length)
    return bool(((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF == checksum)


def _crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli)."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    entries = []
    for entry in range(256):
        for _ in range(8):
            entry = entry >> 1 ^ (0x82F63B78 if entry & 1 else 0)
        entries.append(entry)
    return tuple(entries)
