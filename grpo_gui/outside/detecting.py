"""Finds out from their content what files are, and which of them belong to one run."""

import csv
import json
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from grpo_gui.outside import point_tables
from grpo_gui.outside.bridge import BridgeFolder, is_bridge_line
from grpo_gui.outside.names import STEP_NAMES
from grpo_gui.outside.parquet_reading import parquet_columns
from grpo_gui.outside.parquet_table import MetricParquet, ParquetTable
from grpo_gui.outside.pieces import OutsideError
from grpo_gui.outside.source import Source
from grpo_gui.outside.step_files import StepFiles
from grpo_gui.outside.tables import CompletionTable, MetricArray, MetricTable, is_completion, is_metrics
from grpo_gui.outside.tensorboard import TensorBoardFile, is_event_file
from grpo_gui.outside.trl_files import Completions, TrainerState
from grpo_gui.outside.verl import VerlLog, VerlRollouts, is_verl_log, is_verl_rollout

HEAD_BYTES = 1 << 16
MAX_HEAD_BYTES = 1 << 26  # a first line may hold many long completions
MAX_DEPTH = 4
MAX_FILES = 200_000
MAX_LOOKED_AT = 100
STATE = "trainer_state.json"
_TEXT_ENDS = frozenset({".jsonl", ".json", ".csv", ".ndjson", ".log", ".txt", ""})
_NO_METRICS = frozenset(  # JSON that lies beside a model
    {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}
)
_PARTS = re.compile(r"checkpoint-\d+|completions|runs|grpo_gui|rollouts?|rollout_data(_dir)?")

READABLE = (
    "a TRL output folder, a trainer_state.json, a TensorBoard folder, verl's logs, or metrics or completions as CSV, "
    "JSON lines or Parquet"
)


def find_runs(path: Path) -> list[Path]:
    """The runs at a path: itself, or those in its folders.

    Raises:
        OutsideError: there is nothing that can be read.
    """
    try:
        is_there = path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise OutsideError(f"{path} cannot be looked at ({error.strerror}); give {READABLE}.") from error
    if not is_there:
        raise OutsideError(f"{path} is not there; give {READABLE}.")
    found = [path] if path.is_file() else list(_runs_in(path, 0))
    if not found:
        raise OutsideError(f"{path} holds no run; give {READABLE}.")
    return found


def _runs_in(folder: Path, depth: int) -> Iterator[Path]:
    entries = _entries(folder)
    has_parts = any(_PARTS.fullmatch(entry.name) for entry in entries if entry.is_dir())
    if has_parts or (folder / STATE).is_file() or _sources_of(folder, folder, {}):
        yield folder
        return
    if depth < MAX_DEPTH:
        for entry in entries:
            if entry.is_dir():
                yield from _runs_in(entry, depth + 1)


def sources_at(place: Path, known: dict[str, Source]) -> list[Source]:
    """The sources of a run that are not among those `known`, by name. Our bridge's record stands for all others.

    Raises:
        OutsideError: a single file is of no known kind.
    """
    if place.is_file():
        if known:
            return []
        source = _source_of(place, place.name)
        if source is None:
            raise OutsideError(f"{place} is of no kind that can be read; give {READABLE}.")
        return [source]
    found: list[Source] = []
    for folder in _folders(place, 0):
        found += _sources_of(place, folder, known)
    state = _newest_state(place)
    if state is not None and _use_state(state, known):
        found.append(TrainerState(state, STATE))
    everything = [*known.values(), *found]
    bridges = [source for source in everything if source.format == "bridge"]
    return [source for source in found if source in bridges] if bridges else found


def why_nothing(place: Path, name: str) -> str:
    """Why no source was found at a place that is called `name`, and what would help, as a sentence."""
    try:
        is_folder = place.is_dir()
        is_empty = not (any(place.iterdir()) if is_folder else place.stat().st_size)
        unreadable = next((path for path in _files(place) if not _may_be_read(path)), None)
    except (FileNotFoundError, NotADirectoryError):
        return f"{name} is not there yet; waiting for it."
    except OSError as error:
        return f"{name} cannot be read ({error.strerror}); check its permissions."
    if unreadable is not None:
        inside = "" if unreadable == place else f"/{unreadable.relative_to(place).as_posix()}"
        return f"{name}{inside} may not be read; check its permissions."
    if is_empty:
        return f"{name} is empty so far; waiting for what is written there."
    if is_folder:
        return f"{name} holds nothing so far that can be read; waiting for {READABLE.replace(', or ', ' or ')}."
    return f"{name} is of no kind that can be read; give {READABLE}."


def _files(place: Path) -> Iterator[Path]:
    """The file itself, or some of those in a folder."""
    if not place.is_dir():
        yield place
        return
    for folder in islice(_folders(place, 0), MAX_LOOKED_AT):
        yield from islice(folder.iterdir(), MAX_LOOKED_AT)


def _may_be_read(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))  # a pipe must not keep us waiting
    except PermissionError:
        return path.is_dir() and os.name == "nt"  # Windows opens no folders
    except OSError:
        return True  # gone, or a socket
    return True


def _use_state(state: Path, known: dict[str, Source]) -> bool:
    """True when there is no source for it yet; else the known one goes on with the newest checkpoint."""
    source = known.get(STATE)
    if isinstance(source, TrainerState):
        source.use(state)
    return source is None


def _newest_state(place: Path) -> Path | None:
    """The trainer_state.json of the furthest checkpoint: each one holds the whole history."""
    numbered = [
        (int(found[1]), path)
        for path in place.glob(f"checkpoint-*/{STATE}")
        if (found := re.fullmatch(r"checkpoint-(\d{1,12})", path.parent.name)) is not None
    ]
    if (place / STATE).is_file():  # left by save_state at the very end
        return place / STATE
    return max(numbered)[1] if numbered else None


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    yield folder
    if depth < MAX_DEPTH:
        for entry in _entries(folder):
            if entry.is_dir() and not re.fullmatch(r"checkpoint-\d+", entry.name):
                yield from _folders(entry, depth + 1)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return []


def _sources_of(place: Path, folder: Path, known: dict[str, Source]) -> list[Source]:
    """The sources of one folder, without those of its folders."""
    name = folder.relative_to(place).as_posix()
    if isinstance(known.get(name), StepFiles):
        return []  # it looks for its new files itself
    found: list[Source] = []
    step_files: type[Completions] | type[VerlRollouts] | None = None
    for path in _entries(folder)[:MAX_FILES]:
        inside = path.relative_to(place).as_posix()
        if inside in known or not path.is_file() or path.name == STATE:
            continue
        if re.fullmatch(r"rank\d+\.jsonl", path.name) and is_bridge_line(_first_record(path)):
            return [] if name in known else [BridgeFolder(folder, name)]
        if step_files is None and re.fullmatch(Completions.pattern, path.name):
            step_files = Completions
        elif step_files is None and re.fullmatch(VerlRollouts.pattern, path.name):
            step_files = VerlRollouts if is_verl_rollout(_first_record(path)) else None
        if step_files is not None and re.fullmatch(step_files.pattern, path.name):
            continue
        source = _source_of(path, inside)
        if source is not None:
            found.append(source)
    if step_files is not None and name not in known:
        found.append(step_files(folder, name))
    return found


def _source_of(path: Path, name: str) -> Source | None:
    """The source for one file, from its beginning; None when it is of no known kind."""
    head = _head(path)
    if head.startswith(b"PAR1"):
        return _parquet_source(path, name)
    if is_event_file(head):
        return TensorBoardFile(path, name)
    if path.suffix.lower() not in _TEXT_ENDS or path.name in _NO_METRICS or b"\0" in head:
        return None
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"{", b"[")):
        return _json_source(path, name, start)
    return _csv_source(path, name, head)


def _json_source(path: Path, name: str, start: bytes) -> Source | None:
    record = _first_record(path)
    if is_verl_log(record):
        return VerlLog(path, name)
    if is_bridge_line(record):
        return BridgeFolder(path.parent, path.parent.name)
    if is_completion(record):
        return CompletionTable(path, name, is_csv=False)
    if is_metrics(record):
        return MetricTable(path, name, is_csv=False)
    if b'"log_history"' in start or path.name == STATE:
        return TrainerState(path, name)
    if start.startswith(b"[") and path.suffix.lower() == ".json":
        return MetricArray(path, name)
    return None


def _parquet_source(path: Path, name: str) -> Source:
    columns = parquet_columns(path)
    if columns >= point_tables.COLUMNS:
        return point_tables.PointTable(path, name, is_csv=False)
    is_metrics_table = "completion" not in columns and any(step in columns for step in STEP_NAMES)
    return MetricParquet(path, name) if is_metrics_table else ParquetTable(path, name)


def _csv_source(path: Path, name: str, head: bytes) -> Source | None:
    if path.suffix.lower() not in (".csv", ".txt"):
        return None
    try:
        lines = head.decode("utf-8-sig", "replace").splitlines()
        header = next(csv.reader(lines[:1]), [])
    except csv.Error:
        return None
    if set(header) >= point_tables.COLUMNS:
        return point_tables.PointTable(path, name, is_csv=True)
    columns: dict[str, object] = dict.fromkeys(header, "1")
    if is_completion(columns):
        return CompletionTable(path, name, is_csv=True)
    return MetricTable(path, name, is_csv=True) if is_metrics(columns) else None


def _first_record(path: Path) -> object:
    """The first line that holds JSON; None when none of the first lines does."""
    for line in _head(path).removeprefix(b"\xef\xbb\xbf").split(b"\n")[:20]:
        if line.strip():
            try:
                return json.loads(line)
            except (ValueError, RecursionError):
                continue
    return None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            while b"\n" not in head and len(head) < MAX_HEAD_BYTES and (more := file.read(len(head))):
                head += more
            return head
    except OSError:
        return b""
