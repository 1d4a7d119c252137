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
        text = json.dumps(config)
        with StoreReader(self._database) as reader:
            newest = next((run for run in reader.runs() if run.origin == ORIGIN), None)
        if newest is not None and newest.config == text and newest.steps_done < step:
            return newest.id
        return self._writer.create_run(NewRun(ORIGIN, ORIGIN, text, seed, device, origin=ORIGIN))

    def emit(self, event: Event) -> None:
        """Keep an event."""
        self._writer.emit(event)
