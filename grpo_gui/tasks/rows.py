"""Rows of a data file of the user's: JSON lines, CSV, a JSON array, or Parquet; one format, one reader."""

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from grpo_gui.errors import BadInputError, MissingExtraError

MAX_LINE_BYTES = 1_000_000
FORMATS = ".jsonl, .ndjson, .json, .csv or .parquet"
_NO_OBJECT = 'is no object such as {"prompt": ...}'
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Row:
    """One row, or the sentence that says why it is none. `place` is a line from 1, or a row from 1.

    `offset` is where its line begins in a file of JSON lines, else -1.
    """

    place: str
    values: dict[str, Any]
    problem: str = ""
    offset: int = -1
    end: int = 0  # bytes of the file read so far


def read_rows(path: Path) -> Iterator[Row]:
    """Read the rows one after another; a row that cannot be read comes with its problem.

    Raises:
        BadInputError: the file as a whole cannot be read.
        MissingExtraError: Parquet without pyarrow.
    """
    readers: dict[str, Callable[[Path], Iterator[Row]]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json_array,
        ".csv": _csv_rows,
        ".parquet": _parquet_rows,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise BadInputError(f"{path} is no data file: its name must end in {FORMATS}.")
    try:
        yield from reader(path)
    except OSError as error:
        raise BadInputError(f"{path} cannot be read: {error.strerror or error}.") from None


def row_at(path: Path, offset: int) -> dict[str, Any]:
    """Read the row of a file of JSON lines whose line begins there.

    Raises:
        BadInputError: the file has changed since it was indexed.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            values = parse_json(file.readline().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(
            f"{path} has changed while it is in use ({error}); put it back, or start a new run."
        ) from None
    if not isinstance(values, dict):
        raise BadInputError(f"{path} has changed while it is in use; put it back, or start a new run.")
    return values


def parse_json(text: str) -> Any:  # noqa: ANN401 - JSON
    """Read JSON; numbers with a point stay as they are written."""
    return json.loads(text, parse_float=Decimal)


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield (line number from 1, offset, bytes with the line end)."""
    with path.open("rb") as file:
        number = offset = 0
        while raw := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if number == 1 and raw.startswith(_UTF16):
                raise BadInputError(f"{path} is UTF-16; save the file as UTF-8.")
            if len(raw) > MAX_LINE_BYTES:
                raise BadInputError(f"{path}, line {number} is longer than 1 MB; is this a data file?")
            yield number, offset, raw
            offset += len(raw)


def _decoded(path: Path, number: int, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise BadInputError(
            f"{path}, line {number} is not UTF-8 (byte {error.start + 1}); save the file as UTF-8."
        ) from None


def _json_lines(path: Path) -> Iterator[Row]:
    for number, offset, raw in _lines(path):
        line, place, end = _decoded(path, number, raw), f"line {number}", offset + len(raw)
        if not line.strip():
            continue
        try:
            values = parse_json(line)
        except (ValueError, RecursionError) as error:
            yield Row(place, {}, f"is not JSON: {_json_reason(error)}", offset, end)
            continue
        if isinstance(values, dict):
            yield Row(place, values, "", offset, end)
        else:
            yield Row(place, {}, _NO_OBJECT, offset, end)


def _json_array(path: Path) -> Iterator[Row]:
    raw = path.read_bytes()
    if raw.startswith(_UTF16):
        raise BadInputError(f"{path} is UTF-16; save the file as UTF-8.")
    try:
        rows = parse_json(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path} is not UTF-8 (byte {error.start + 1}); save the file as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        where = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInputError(f"{path}{where} is not JSON: {_json_reason(error)}.") from None
    if not isinstance(rows, list):
        raise BadInputError(f"{path} must hold a JSON array of objects; name a file with one object a line .jsonl.")
    for number, values in enumerate(rows, 1):
        problem = "" if isinstance(values, dict) else _NO_OBJECT
        yield Row(f"row {number}", {} if problem else values, problem)


def _json_reason(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else "it is nested or long beyond reason"


def _csv_rows(path: Path) -> Iterator[Row]:
    reader = csv.reader((_decoded(path, number, raw) for number, _, raw in _lines(path)), strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for fields in reader:
            line, start = start, reader.line_num + 1
            if not fields:
                continue
            if header is None:
                header = _checked_header(path, line, fields)
            elif len(fields) == len(header):
                yield Row(f"line {line}", dict(zip(header, fields, strict=True)))
            else:
                yield Row(
                    f"line {line}",
                    {},
                    f"has {len(fields)} fields where the header has {len(header)}; "
                    "put a text with a comma in double quotes",
                )
    except csv.Error as error:
        raise BadInputError(f"{path}, line {start} is not CSV: {error}.") from None


def _checked_header(path: Path, line: int, fields: list[str]) -> list[str]:
    header = [field.strip() for field in fields]
    if not {"prompt", "question"} & set(header):
        raise BadInputError(f"{path}, line {line}: the header has no column `prompt`, only {', '.join(header)}.")
    if len(set(header)) < len(header):
        raise BadInputError(f"{path}, line {line}: two columns have the same name; rename one.")
    return header


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise MissingExtraError('Parquet needs pyarrow; install it with: pip install "grpo-gui[data]".') from None
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for values in batch.to_pylist():
                    number += 1
                    yield Row(f"row {number}", values)
    except pyarrow.ArrowException as error:
        raise BadInputError(f"{path} is no readable Parquet file ({error}).") from None
