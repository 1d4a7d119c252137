"""Imports runs that were made elsewhere: what is there already is found again, what is broken is named and left out."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grpo_gui.errors import BadInputError
from grpo_gui.events import Event, RunStatus, TrainerStatus
from grpo_gui.outside.assembling import Assembler, merged
from grpo_gui.outside.detecting import find_runs, sources_at
from grpo_gui.outside.gathering import Gathering
from grpo_gui.outside.pieces import OutsideError, Piece, RunInfo, StartRow, StatusRow
from grpo_gui.outside.source import Source
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.records_outside import OutsideBatch, OutsideRun

BLOCK = 4 << 20
UNKNOWN_SEED = -1


class RunWriter(Protocol):
    """What importing and following ask of the store's writer."""

    @property
    def path(self) -> Path:
        """The database."""

    def begin_outside_run(self, run: NewRun, place: str, kind: str) -> int:
        """The run that is read from a place, made where there is none yet; return its id."""

    def replace_config(self, run_id: int, config: str) -> None:
        """Give a run another config."""

    def write_outside(self, run_id: int, batch: OutsideBatch) -> None:
        """Write a batch, all or nothing."""

    def save_outside_run(self, run: OutsideRun) -> None:
        """Note where a run came from."""

    def set_times(self, run_id: int, created_s: float, ended_s: float | None) -> None:
        """Give a run its times."""

    def emit(self, event: Event) -> None:
        """Take an event."""

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until events are written."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import is."""

    place: str
    steps: int
    completions: int
    share: float  # of the bytes of its files, 0 to 1


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of one run. `run_id` is None when the import was cancelled before anything was read."""

    place: str
    run_id: int | None
    is_new: bool
    has_changed: bool  # anything was written
    steps: int
    completions: int
    summary: str
    problems: tuple[str, ...]


def import_path(
    path: Path,
    writer: RunWriter,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[ImportReport]:
    """Import every run at a path, one report a run; importing again adds only what is new.

    Raises:
        OutsideError: there is no run, or nothing of it can be read.
        MissingExtraError: Parquet files need pyarrow.
        StoreError: the database cannot be written.
    """
    try:
        whole = path.expanduser().resolve()
    except (OSError, RuntimeError) as error:  # a link to itself, a user who is not there
        raise OutsideError(f"{path} cannot be found ({error}); give the path of a run.") from error
    problems: list[str] = []
    for place in find_runs(whole):
        if is_cancelled():
            return
        try:
            yield _Import(place, writer, progress, is_cancelled).run()
        except BadInputError as error:  # the runs beside it are imported all the same
            problems.append(str(error))
    if problems:
        raise OutsideError(" ".join(problems))


def run_name(place: Path, info: RunInfo) -> str:
    """A name for people: what the run calls itself, else its folder, for a checkpoint that of its run."""
    if info.name:
        return info.name
    if place.name == "trainer_state.json":
        place = place.parent.parent if place.parent.name.startswith("checkpoint-") else place.parent
    return place.name or str(place)


class _Import:
    """The import of one run."""

    def __init__(
        self,
        place: Path,
        writer: RunWriter,
        progress: Callable[[Progress], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._place, self._writer = place, writer
        self._progress, self._is_cancelled = progress, is_cancelled
        self._sources = sources_at(place, {})
        self._info = describe(self._sources)
        self._bytes = sum(path.stat().st_size for source in self._sources for path in source.paths())
        self._run_id: int | None = None
        self._failure = ""  # what the run says of its failure
        self._is_taken = False  # the run is ours to write: nobody else reads the place
        self._times: tuple[float, float] = (math.inf, -math.inf)

    def run(self) -> ImportReport:
        digest = content_digest(self._place, self._sources)
        with StoreReader(self._writer.path) as reader:
            known = reader.find_outside_run(str(self._place), digest)
        if known is not None and known.digest == digest:
            return ImportReport(str(self._place), known.run_id, False, False, 0, 0, known.summary, ())
        self._run_id = None if known is None else known.run_id
        self._is_taken = known is not None and known.place != str(self._place)  # a copy of a run read elsewhere
        assembler = Assembler(self._info, verify=known is not None)
        was_cancelled = not self._read(assembler)
        summary = run_summary(assembler, self._info, was_cancelled=was_cancelled)
        problems = tuple(problem.sentence for source in self._sources for problem in source.problems)
        if self._run_id is None:
            if not was_cancelled:
                reason = problems[0] if problems else f"{self._place} holds no step with numbers and no completions."
                raise OutsideError(reason)
            return ImportReport(str(self._place), None, False, False, 0, 0, summary, problems)
        self._finish(self._run_id, assembler, summary, "" if was_cancelled else digest)
        counts = assembler.completeness
        return ImportReport(
            *(str(self._place), self._run_id, known is None, True),
            *(counts.logged_steps, counts.completions, summary, problems),
        )

    def _read(self, assembler: Assembler) -> bool:
        """Read and write everything; False when it was cancelled."""
        waiting = Gathering()
        try:
            for source, piece in merged(self._sources, final=True):
                self._notice_failure(piece)
                waiting.take(assembler, source, piece)
                if waiting.is_full:
                    self._write(assembler, waiting)
                    waiting = Gathering()
                    if self._is_cancelled():
                        return False
        except OSError as error:
            raise OutsideError(f"{self._place} cannot be read any more ({error}); check its disk.") from error
        if not waiting.is_empty:
            self._write(assembler, waiting)
        return True

    def _notice_failure(self, piece: Piece) -> None:
        if isinstance(piece, StartRow):
            self._failure = ""
        elif isinstance(piece, StatusRow) and (piece.kind, piece.status) == ("end", "failed"):
            self._failure = self._failure or piece.message or "It failed."

    def _write(self, assembler: Assembler, waiting: Gathering) -> None:
        if self._run_id is None or not self._is_taken:
            self._run_id = begin_run(self._writer, self._place, self._info, self._sources, "imported")
            self._is_taken = True
        run_id = self._run_id
        self._writer.write_outside(run_id, waiting.batch())
        times = [step.time_s for step in waiting.steps if step.time_s is not None]
        self._times = (min([self._times[0], *times]), max([self._times[1], *times]))
        counts = assembler.completeness
        self._progress(Progress(str(self._place), max(counts.last_step, 0), counts.completions, self._share()))

    def _share(self) -> float:
        return min(1.0, sum(source.bytes_read for source in self._sources) / max(self._bytes, 1))

    def _finish(self, run_id: int, assembler: Assembler, summary: str, digest: str) -> None:
        writer, last = self._writer, max(assembler.completeness.last_step, 0)
        records = tuple(source.record() for source in self._sources)
        writer.write_outside(run_id, OutsideBatch(sources=records))
        writer.save_outside_run(OutsideRun(run_id, str(self._place), format_of(self._sources), digest, summary))
        writer.replace_config(run_id, config_json(self._info, self._sources))
        ended_early = self._info.max_steps is not None and last < self._info.max_steps
        status = RunStatus.STOPPED if ended_early else RunStatus.FINISHED
        if self._failure:
            status, summary = RunStatus.FAILED, self._failure
        writer.emit(TrainerStatus(run_id, status, last, summary))
        writer.flush()
        begun, ended = self._times
        changed = [path.stat().st_mtime for source in self._sources for path in source.paths()]
        begun = begun if math.isfinite(begun) else min(changed)
        writer.set_times(run_id, begun, max(ended if math.isfinite(ended) else max(changed), begun))


def describe(sources: list[Source], known: RunInfo | None = None) -> RunInfo:
    """What the sources say about their run, added to what is known."""
    info = RunInfo() if known is None else known
    for source in sources:
        source.describe(info)
    return info


def begin_run(writer: RunWriter, place: Path | str, info: RunInfo, sources: list[Source], origin: str) -> int:
    """Add the run of a place, or find it; what is not known of it is said so.

    Raises:
        BadInputError: another process reads the place now.
    """
    seed = info.config.get("seed")
    run = NewRun(
        name=run_name(Path(place), info),
        task=format_of(sources),
        config=config_json(info, sources),
        seed=seed if isinstance(seed, int) and 0 <= seed < 2**63 else UNKNOWN_SEED,
        device="elsewhere",
        origin=origin,
    )
    return writer.begin_outside_run(run, str(place), format_of(sources))


def config_json(info: RunInfo, sources: list[Source]) -> str:
    """The settings under the other program's names. `program` tells it from a config of ours."""
    config: dict[str, object] = {"program": format_of(sources), **info.config}
    if info.max_steps is not None:
        config["max_steps"] = info.max_steps
    if info.weights:
        config["rewards"] = [{"name": name, "kind": "", "weight": weight} for name, weight in info.weights.items()]
    return json.dumps(config, ensure_ascii=False, default=str)


def format_of(sources: list[Source]) -> str:
    """What the run is, from the most telling of its sources."""
    formats = {source.format for source in sources}
    telling = ("bridge", "trl", "verl", "tensorboard", "completions", "metrics")
    return next(name for name in telling if name in formats)


def run_summary(assembler: Assembler, info: RunInfo, *, was_cancelled: bool = False) -> str:
    """The line that says how complete the run is, and whether its advantages are what its rewards give."""
    cancelled = "The import was cancelled; import it again for the rest." if was_cancelled else ""
    return " ".join(filter(None, (cancelled, assembler.completeness.sentence(info), assembler.check.sentence)))


def content_digest(place: Path, sources: list[Source]) -> str:
    """A digest of all files of a run, their places inside it included."""
    whole = hashlib.blake2b(digest_size=16)
    for path in sorted(path for source in sources for path in source.paths()):
        whole.update(b"" if place.is_file() else path.relative_to(place).as_posix().encode("utf-8", "surrogateescape"))
        one = hashlib.blake2b(digest_size=16)
        try:
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    one.update(block)
        except OSError as error:
            raise OutsideError(f"{path} cannot be read ({error}); check its permissions.") from error
        whole.update(one.digest())
    return whole.hexdigest()
