"""The network's run in the run history: one a database, which goes on with every start."""

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

    def open_run(self, config: dict[str, object], seed: int, device: str) -> int:
        """The id of the run that goes on, or of a new one.

        Raises:
            StoreError: the database cannot be read or written.
        """
        with StoreReader(self._database) as reader:
            known = next((run.id for run in reader.runs() if run.origin == ORIGIN), None)
        if known is not None:
            return known
        return self._writer.create_run(NewRun(ORIGIN, ORIGIN, json.dumps(config), seed, device, origin=ORIGIN))

    def emit(self, event: Event) -> None:
        """Keep an event."""
        self._writer.emit(event)
