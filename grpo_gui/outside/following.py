"""Follows a run that goes on elsewhere: reads what is new several times a second, and survives both sides' restarts."""

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from grpo_gui.commands import Command
from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.outside.assembling import Assembler, merged
from grpo_gui.outside.detecting import sources_at, why_nothing
from grpo_gui.outside.gathering import Gathering
from grpo_gui.outside.importing import (
    RunWriter,
    begin_run,
    config_json,
    describe,
    format_of,
    run_summary,
)
from grpo_gui.outside.pieces import OutsideError, RunInfo, StatusRow
from grpo_gui.outside.places import Place
from grpo_gui.outside.quiet import QUIET_S
from grpo_gui.outside.run_state import RunState
from grpo_gui.outside.source import Source
from grpo_gui.outside.way_back import WayBack
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_outside import OutsideRun, SourceRecord

logger = logging.getLogger(__name__)

POLL_S = 0.25
DISCOVER_S = 1.0
SUMMARY_S = 5.0
COUNTS = "counts"  # the name under which the counts of the completeness line are kept


class FollowWriter(RunWriter, Protocol):
    """What following asks of the store's writer."""

    def take_outside_run(self, run_id: int) -> None:
        """Make this process the one that reads a run; raises BadInputError where another one reads it now."""

    def take_commands(self, run_id: int) -> list[Command]:
        """The commands left for a run since the last call."""

    def add_note(self, run_id: int, step: int, text: str) -> int:
        """Add a note at a step."""


class Follower:
    """Follows one place. Call `run` in a thread, or `poll` again and again."""

    def __init__(self, place: Place, writer: FollowWriter, *, quiet_s: float = QUIET_S) -> None:
        self.place = place
        self.run_id: int | None = None
        self.said: Callable[[str, int, str], None] = lambda *_: None  # called with status, step and message
        self.info = RunInfo()
        self.waits: Callable[[str], None] = lambda _: None  # called with what stands in the way until there is a run
        self._writer = writer
        self._sources: dict[str, Source] = {}
        self._records: dict[str, SourceRecord] = {}
        self._looked_s = self._summed_s = -DISCOVER_S
        self._obstacle = ""
        self._told_obstacle = ""
        self._said: tuple[RunStatus, str] | None = None
        self._state = RunState(time.monotonic(), quiet_s)
        self._assembler = Assembler(self.info)
        self._reader: StoreReader | None = None  # made in the thread that polls
        self._way_back = WayBack(place, writer)
        self._closed = False

    def run(self, stop: threading.Event) -> RunStatus | None:
        """Follow until the run ends or `stop` is set; return how it ended, None when it goes on."""
        try:
            while not stop.is_set():
                self.poll()
                if self._state.ended is not None:
                    return self._state.ended
                stop.wait(POLL_S)
            return None
        finally:
            self.close()

    @property
    def ended(self) -> RunStatus | None:
        """How the run ended; None while it goes on."""
        return self._state.ended

    def close(self) -> None:
        """End following; a run that goes on is marked as no longer followed."""
        if self._closed:
            return
        self._closed = True
        if self.run_id is not None and self._state.ended is None:
            self._save_summary()
            message = f"It is no longer followed; `grpo-gui follow {self.place.name}` goes on."
            self._writer.emit(TrainerStatus(self.run_id, RunStatus.INTERRUPTED, self._state.step, message))
        self._writer.flush()
        self.place.close()
        if self._reader is not None:
            self._reader.close()

    def poll(self) -> int:
        """Read and write what is new; return how many pieces came.

        Raises:
            BadInputError: another process reads this place now.
            StoreError: the database cannot be written.
            MissingExtraError: Parquet files need pyarrow.
        """
        if self._reader is None:
            self._reader = StoreReader(self._writer.path)
            self._take_up(self._reader)
        now_s = time.monotonic()
        trouble = self.place.refresh()
        if now_s - self._looked_s >= DISCOVER_S:
            self._looked_s = now_s
            self._discover()
        count = self._read(now_s)
        trouble = trouble or self._obstacle
        if self.run_id is None:
            self._tell_obstacle(trouble or self._no_rows())
        if self.run_id is not None and (self._sources or trouble):
            self._way_back.pass_on(self.run_id, self._sources.values(), self._reader)
            if count and now_s - self._summed_s >= SUMMARY_S:
                self._save_summary()
            self._say(*self._state.status(now_s, trouble))
        return count

    # -- reading --------------------------------------------------------------------------------------

    def _take_up(self, reader: StoreReader) -> None:
        """Go on with the run that was read from this place before."""
        known = reader.find_outside_run(self.place.name)
        if known is None:
            return
        self._writer.take_outside_run(known.run_id)
        self.run_id = known.run_id
        self._records = {record.name: record for record in reader.outside_sources(known.run_id)}
        self._assembler = Assembler(self.info, verify=bool(known.digest))
        if COUNTS in self._records:
            self._assembler.completeness.restore(json.loads(self._records[COUNTS].state))

    def _discover(self) -> None:
        """Look for files that are new; a place that is not there yet may come later."""
        found: list[Source] = []
        self._obstacle = ""
        try:
            if self.place.folder.exists():
                found = sources_at(self.place.folder, self._sources)
            if not found and not self._sources:
                self._obstacle = why_nothing(self.place.folder, self.place.name)
        except OutsideError:  # a single file
            self._obstacle = why_nothing(self.place.folder, self.place.name)
        except OSError as error:
            self._obstacle = f"{self.place.name} cannot be read ({error.strerror}); check its permissions."
        for source in found:
            if source.name in self._records:
                source.restore(self._records[source.name])
            if source.format == "bridge":
                self._sources = {}  # its record stands for all others
            self._sources[source.name] = source
        if found:
            describe(list(self._sources.values()), self.info)

    def _read(self, now_s: float) -> int:
        waiting, count = Gathering(), 0
        try:
            for source, piece in merged(list(self._sources.values())):
                count += 1
                self._state.take(piece, now_s)
                if isinstance(piece, StatusRow) and piece.kind == "snapshot":
                    self._note_checkpoint(piece)
                waiting.take(self._assembler, source, piece)
                if waiting.is_full:
                    self._write(waiting)
                    waiting = Gathering()
        except OSError as error:
            self._obstacle = f"{error.filename or self.place.name} cannot be read for now ({error.strerror})."
            logger.info("%s", self._obstacle)
            self._write(waiting)
            self._sources = {}  # what was read ahead is read again from the last kept place
            self._looked_s = -DISCOVER_S
            return count
        if count:
            self._write(waiting, tuple(self._records_now()))
        return count

    def _no_rows(self) -> str:
        """What is said of files that hold nothing so far."""
        problems = [problem.sentence for source in self._sources.values() for problem in source.problems]
        return problems[0] if problems else f"{self.place.name} holds no step so far; waiting for the first one."

    def _tell_obstacle(self, sentence: str) -> None:
        if sentence != self._told_obstacle:
            self._told_obstacle = sentence
            self.waits(sentence)

    def _note_checkpoint(self, row: StatusRow) -> None:
        """Tell at its step where a checkpoint lies, once."""
        if self.run_id is None or self._reader is None:
            return
        text = f"Checkpoint saved in {row.message}."
        if all(note.text != text for note in self._reader.notes(self.run_id)):
            self._writer.add_note(self.run_id, row.step, text)

    def _records_now(self) -> list[SourceRecord]:
        records = [source.record() for source in self._sources.values()]
        records.append(SourceRecord(COUNTS, state=json.dumps(self._assembler.completeness.state())))
        self._records = {record.name: record for record in records}
        return records

    def _write(self, waiting: Gathering, records: tuple[SourceRecord, ...] = ()) -> None:
        if waiting.is_empty and not records:
            return
        if self.run_id is None:
            sources = list(self._sources.values())
            describe(sources, self.info)
            self.run_id = begin_run(self._writer, self.place.name, self.info, sources, "followed")
            self._save_summary()
        self._writer.write_outside(self.run_id, waiting.batch(records))

    def _save_summary(self) -> None:
        if self.run_id is None or not self._sources:
            return
        self._summed_s = time.monotonic()
        sources = list(self._sources.values())
        describe(sources, self.info)
        self._state.max_steps = self.info.max_steps
        summary = run_summary(self._assembler, self.info)
        self._writer.save_outside_run(OutsideRun(self.run_id, self.place.name, format_of(sources), "", summary))
        self._writer.replace_config(self.run_id, config_json(self.info, sources))

    def _say(self, status: RunStatus, message: str) -> None:
        if self.run_id is None or (status, message) == self._said:
            return
        self._said = (status, message)
        if not status.is_active:
            self._save_summary()
            message = message or run_summary(self._assembler, self.info)
        self._writer.emit(TrainerStatus(self.run_id, status, self._state.step, message))
        self.said(status.value, self._state.step, message)
