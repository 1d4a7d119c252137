"""The one writer of the database in this process: a thread that commits events at least every 250 ms."""

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from grpo_gui import __version__
from grpo_gui.commands import Command
from grpo_gui.errors import GrpoGuiError, StoreError
from grpo_gui.events import Event
from grpo_gui.rating_events import RatingEvent
from grpo_gui.router_events import RouterEvent
from grpo_gui.store import (
    diagnosis_writes,
    failures,
    outside_claims,
    outside_writes,
    rating_writes,
    router_writes,
    run_writes,
    snapshot_writes,
)
from grpo_gui.store.connections import connect_writer
from grpo_gui.store.event_queue import Call, EventQueue
from grpo_gui.store.inserts import EventInserter
from grpo_gui.store.outside_writes import OutsideInserter
from grpo_gui.store.records import NewRun
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.store.records_outside import OutsideBatch, OutsideRun
from grpo_gui.store.records_snapshots import PairRating
from grpo_gui.store.shelf_calls import ShelfCalls

logger = logging.getLogger(__name__)

T = TypeVar("T")

PROGRAM = f"grpo-gui {__version__}"
GATHER_S = 0.1  # events gather this long before a commit
COMMIT_S = 0.1  # a transaction with many events is committed after this long
RETRY_S = 1.0
LIMIT_BYTES = 256 << 20
CALL_TIMEOUT_S = 30.0
OPEN_TIMEOUT_S = 600.0  # a migration with its copy may take minutes
_BATCH = 256
_COMMITS_KEPT = 1000  # times of the newest commits that nobody asked for


class _FileGoneError(StoreError):
    """The database's file is not where it was."""


class StoreWriter(ShelfCalls):
    """Writes events and the user's notes; every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        """Use `open` instead."""
        self.path = path
        self._queue = EventQueue()
        self._problem: str | None = None
        self._congested = False
        self._commits_ms: deque[float] = deque(maxlen=_COMMITS_KEPT)
        self._left_out = 0
        self._ready = False
        self._died = False
        self._closed = False
        self._batch = _BATCH
        self._opened = Call(work=lambda: None)
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._connection: sqlite3.Connection
        self._inserter: EventInserter
        self._outside: OutsideInserter
        self._file: tuple[int, int]  # device and inode

    @classmethod
    def open(cls, path: Path) -> "StoreWriter":
        """Open the database (made, or brought up to date, when needed) and mark dead runs as interrupted.

        Raises:
            StoreError: the file cannot be used; it is left as it was.
        """
        writer = cls(path)
        writer._thread.start()
        writer._opened.done.wait(OPEN_TIMEOUT_S)
        if writer._opened.error is not None:
            raise writer._opened.error
        if not writer._ready:
            raise StoreError(f"The database {path} could not be opened by an error in grpo-gui; the log has it.")
        return writer

    # -- events ---------------------------------------------------------------------------------

    def emit(self, event: Event) -> None:
        """Take an event for writing; never blocks, never raises. After `close` it is only logged."""
        if not self._queue.put(event):
            logger.warning("%s of run %d came after the database was closed.", type(event).__name__, event.run_id)

    def congestion(self) -> str | None:
        """A sentence while the trainer must wait before its next step, because events cannot be written; else None.

        It waits at once while writing fails: what is only in memory would be lost if the process were killed.
        """
        size = self._queue.size_bytes
        if size >= LIMIT_BYTES or self._died or self._problem is not None:
            self._congested = True
        elif size < LIMIT_BYTES // 2:
            self._congested = False
        if not self._congested:
            return None
        reason = self._problem or f"The disk with the database {self.path} is too slow."
        return f"{reason} Training waits until the samples in memory ({size >> 20} MB) are saved."

    def write_ms(self) -> float | None:
        """The longest commit since the last call, in milliseconds; None where there was none. Never waits."""
        new = [self._commits_ms.popleft() for _ in range(len(self._commits_ms))]
        return max(new, default=None)

    @property
    def problem(self) -> str | None:
        """Why something was not written, as a sentence; None while all is well."""
        if self._problem is None and self._left_out:
            return f"{self._left_out} events could not be stored; the log says why."
        return self._problem

    @property
    def waiting_events(self) -> int:
        """The number of events that are not yet committed."""
        return self._queue.length

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until every event emitted so far is committed; False when `timeout_s` was not enough."""
        return self._queue.wait_until_written(timeout_s)

    def close(self, timeout_s: float = 10.0) -> None:
        """Write what waits, then close the database. Calling it again does nothing.

        Raises:
            StoreError: some events could not be written within `timeout_s`.
        """
        if self._closed:
            return
        self._closed = True
        written = self.flush(0.0 if self._died else timeout_s)
        self._queue.close()
        self._thread.join(timeout_s)
        if not written:
            reason = self._problem or f"The disk with the database {self.path} is too slow."
            raise StoreError(f"{reason} {self._queue.length} events of the run could not be saved.")

    # -- calls that wait for their commit -----------------------------------------------------------

    def create_run(self, run: NewRun) -> int:
        """Add a run, owned by this process, and return its id."""
        return self._call(lambda: run_writes.create_run(self._connection, run, PROGRAM))

    def rename_run(self, run_id: int, name: str) -> None:
        """Give a run another name."""
        self._call(lambda: run_writes.rename_run(self._connection, run_id, name))

    def add_note(self, run_id: int, step: int, text: str) -> int:
        """Add a note at a step and return its id."""
        return self._call(lambda: run_writes.add_note(self._connection, run_id, step, text))

    def post_command(self, run_id: int, command: Command) -> None:
        """Leave a command for the process that trains the run."""
        self._call(lambda: run_writes.post_command(self._connection, run_id, command))

    def take_commands(self, run_id: int) -> list[Command]:
        """The commands left for a run since the last call, oldest first; each is taken once."""
        # Asked many times a second: look without the write lock first.
        if not self._call(lambda: run_writes.has_commands(self._connection, run_id), locked=False):
            return []
        return self._call(lambda: run_writes.take_commands(self._connection, run_id))

    def replace_config(self, run_id: int, config: str) -> None:
        """Give a run that is about to be resumed another config, one with more steps."""
        self._call(lambda: snapshot_writes.replace_config(self._connection, run_id, config))

    def append_router(self, events: Sequence[RouterEvent]) -> None:
        """Append entries to the router's log, all or none."""
        self._call(lambda: router_writes.append(self._connection, events))

    def rate_group(self, rating: RatingEvent) -> int:
        """Append an entry to the log of ratings; return its id once it is committed."""
        return self._call(lambda: rating_writes.rate_group(self._connection, rating))

    def save_findings(self, run_id: int, findings: Sequence[FindingRecord]) -> None:
        """Replace the stored findings of a run by these, in their order."""
        self._call(lambda: diagnosis_writes.save_findings(self._connection, run_id, findings))

    def mute_finding(self, run_id: int, detector: str, muted: bool = True) -> None:
        """Mute a detector for a run, or let it be heard again."""
        self._call(lambda: diagnosis_writes.mute_finding(self._connection, run_id, detector, muted))

    def remove_snapshot(self, snapshot_id: int) -> None:
        """Note that a snapshot's folder was removed by hand."""
        self._call(lambda: snapshot_writes.remove_snapshot(self._connection, snapshot_id))

    def rate_pair(self, rating: PairRating) -> int:
        """Keep which of two completions a person preferred; return the rating's id."""
        return self._call(lambda: snapshot_writes.rate_pair(self._connection, rating))

    def undo_rating(self, rating_id: int) -> None:
        """Take back a rating of a pair."""
        self._call(lambda: snapshot_writes.undo_rating(self._connection, rating_id))

    def begin_outside_run(self, run: NewRun, place: str, kind: str) -> int:
        """The run that is read from a place, made where there is none yet; return its id.

        Raises:
            BadInputError: another process reads it now.
        """
        return self._call(lambda: outside_claims.begin(self._connection, run, place, kind, PROGRAM))

    def take_outside_run(self, run_id: int) -> None:
        """Make this process the one that reads a run; raises BadInputError where another one reads it now."""
        self._call(lambda: outside_claims.take(self._connection, run_id))

    def save_outside_run(self, run: OutsideRun) -> None:
        """Note where a run was made elsewhere, and how complete it is."""
        self._call(lambda: outside_writes.save_outside_run(self._connection, run))

    def write_outside(self, run_id: int, batch: OutsideBatch) -> None:
        """Write what was read of a run made elsewhere, all or nothing; writing it twice changes nothing."""
        try:
            self._call(lambda: self._outside.apply(run_id, batch))
        except StoreError:
            self._outside.forget()
            raise

    def set_times(self, run_id: int, created_s: float, ended_s: float | None) -> None:
        """Give a run the times at which it really began and ended."""
        self._call(lambda: outside_writes.set_times(self._connection, run_id, created_s, ended_s))

    def mark_dead_runs(self) -> list[int]:
        """Mark as interrupted the active runs whose process is gone; return their ids."""
        return self._call(lambda: run_writes.mark_dead_runs(self._connection))

    def _call(self, work: Callable[[], T], *, locked: bool = True) -> T:
        """Do `work` in the writer's thread and return its result; `locked`: in a transaction of its own.

        Raises:
            StoreError: it could not be written; nothing of it was.
        """
        results: list[T] = []
        call = Call(work=lambda: results.append(work()), locked=locked)
        if not self._queue.put_call(call):
            raise self._closed_error()
        if not call.done.wait(CALL_TIMEOUT_S):
            raise StoreError(f"The database {self.path} does not answer. Check its disk, or restart grpo-gui.")
        if call.error is not None:
            raise call.error
        return results[0]

    # -- the writer's thread ------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._connection = connect_writer(self.path)
            place = self.path.stat()
            self._file = (place.st_dev, place.st_ino)
            self._inserter = EventInserter(self._connection)
            self._outside = OutsideInserter(self._connection)
            self._transaction(lambda: run_writes.mark_dead_runs(self._connection))
            self._ready = True
        except StoreError as error:
            self._opened.error = error
            return
        except sqlite3.Error as error:
            self._opened.error = failures.store_error(error, self.path)
            return
        finally:
            self._opened.done.set()
        try:
            self._loop()
        finally:
            self._end()

    def _end(self) -> None:
        """Answer whoever still waits, and close the database."""
        if not self._queue.is_closed:
            self._died = True
            self._problem = "The writer of the database stopped by an error in grpo-gui; the log has it. Restart it."
            self._queue.close()
        while (call := self._queue.take_call()) is not None:
            call.error = self._closed_error()
            call.done.set()
        self._connection.close()

    def _closed_error(self) -> StoreError:
        return StoreError(self._problem or f"The database {self.path} is closed already.")

    def _loop(self) -> None:
        while True:
            self._queue.wait_for_work(GATHER_S)
            while (call := self._queue.take_call()) is not None:
                self._answer(call)
            if self._queue.length and not self._write_events():
                self._queue.wait_before_retry(RETRY_S)
            if self._queue.is_closed and (not self._queue.length or self._problem):
                return

    def _answer(self, call: Call) -> None:
        try:
            self._require_file()
            if call.locked:
                self._transaction(call.work)
            else:
                call.work()
        except sqlite3.Error as error:
            call.error = failures.store_error(error, self.path)
        except (GrpoGuiError, OverflowError, UnicodeEncodeError) as error:
            call.error = error if isinstance(error, GrpoGuiError) else StoreError(f"This cannot be stored: {error}.")
        finally:
            call.done.set()

    def _transaction(self, work: Callable[[], object]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            work()
            start_s = time.perf_counter()
            self._connection.execute("COMMIT")
            self._commits_ms.append(1000 * (time.perf_counter() - start_s))
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _write_events(self) -> bool:
        """Commit the oldest events; False when the disk or a lock does not allow it now."""
        events = self._queue.batch(self._batch)
        try:
            self._require_file()
            count = self._write(events)
        except _FileGoneError as error:
            self._wait_because(str(error))
            return False
        except (sqlite3.Error, StoreError, OverflowError, UnicodeEncodeError) as error:
            self._inserter.forget()
            if isinstance(error, sqlite3.Error) and failures.comes_from_the_world(error):
                self._wait_because(failures.sentence(error, self.path))
                return False
            if len(events) > 1:
                self._batch = 1  # find the one that cannot be written, without losing the others
                return True
            logger.exception("An event of run %d cannot be stored and is left out.", events[0].run_id)
            self._left_out += 1
            self._batch, count = _BATCH, 1
        self._queue.remove(count)
        self._problem = None
        return True

    def _wait_because(self, problem: str) -> None:
        if problem != self._problem:
            logger.warning("Events wait: %s", problem)
        self._problem = problem

    def _require_file(self) -> None:
        """Make sure that what is written can be found again: SQLite goes on writing to a file that was deleted.

        Raises:
            StoreError: the file is not where it was.
        """
        try:
            place = self.path.stat()
        except OSError:
            place = None
        if place is None or (place.st_dev, place.st_ino) != self._file:
            raise _FileGoneError(
                f"The database {self.path} was moved, deleted or replaced while it was in use. Put it back; "
                "what came since waits in memory."
            )

    def _write(self, events: list[Event]) -> int:
        """Write events in one transaction until `COMMIT_S` is over; return how many were committed."""
        count = 0
        start = time.monotonic()

        def work() -> None:
            nonlocal count
            for event in events:
                self._inserter.apply(event)
                count += 1
                if time.monotonic() - start > COMMIT_S:
                    break

        self._transaction(work)
        return count
