"""The network's run in the run history: one for each candidate that began, which goes on with every start."""

import json
from pathlib import Path

from grpo_gui.events import Event
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter

ORIGIN = "router"


class StoreRunBook:
    """A RunBook in the store."""

    def __init__(self, database: Path, writer: StoreWriter) -> None:
        self._database, self._writer = database, writer

    def open_run(self, config: dict[str, object], seed: int, device: str, step: int) -> int:
        """The id of the newest run if `step` follows on it under the same options, else of a new one.

        Raises:
            StoreError: the database cannot be read or written.
        """
        known = self.known_run(config, step - 1)
        if known is not None:
            return known
        return self._writer.create_run(NewRun(ORIGIN, ORIGIN, json.dumps(config), seed, device, origin=ORIGIN))

    def known_run(self, config: dict[str, object], steps: int) -> int | None:
        """The id of the newest run, if it has the same options and no more steps than these.

        Raises:
            StoreError: the database cannot be read.
        """
        with StoreReader(self._database) as reader:
            newest = next((run for run in reader.runs() if run.origin == ORIGIN), None)
        fits = newest is not None and newest.config == json.dumps(config) and newest.steps_done <= steps
        return newest.id if newest is not None and fits else None

    def emit(self, event: Event) -> None:
        """Keep an event."""
        self._writer.emit(event)
