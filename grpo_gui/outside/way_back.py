"""Passes commands and ratings of the window on to a followed run that our bridge records."""

import logging
import time
from collections.abc import Iterable
from typing import Protocol

from grpo_gui.commands import Command, ContinueWithout, Pause, Resume, SaveSnapshot, Stop
from grpo_gui.errors import StoreError
from grpo_gui.events import GroupRef
from grpo_gui.outside.bridge import BridgeFolder
from grpo_gui.outside.control import CONTINUE, PAUSE, RESUME, SNAPSHOT, STOP
from grpo_gui.outside.places import Place
from grpo_gui.outside.source import Source
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import human_values
from grpo_gui.store.reader import StoreReader

logger = logging.getLogger(__name__)

RATINGS_S = 0.5
_COMMANDS: dict[type[Command], str] = {
    Pause: PAUSE,
    Resume: RESUME,
    Stop: STOP,
    SaveSnapshot: SNAPSHOT,
    ContinueWithout: CONTINUE,
}


class CommandTable(Protocol):
    """Where the window leaves commands."""

    def take_commands(self, run_id: int) -> list[Command]:
        """The commands left for a run since the last call."""


class WayBack:
    """Looks for commands and ratings whenever it is called."""

    def __init__(self, place: Place, table: CommandTable) -> None:
        self._place, self._table = place, table
        self._looked_s = -RATINGS_S
        self._newest = -1
        self._sent: dict[GroupRef, tuple[float | None, ...]] = {}

    def pass_on(self, run_id: int, sources: Iterable[Source], reader: StoreReader) -> None:
        """Pass on what came; only our bridge can take it."""
        bridge = next((source for source in sources if isinstance(source, BridgeFolder)), None)
        if bridge is None:
            return
        try:
            for command in self._table.take_commands(run_id):
                if type(command) in _COMMANDS:
                    self._place.send(bridge.name, _COMMANDS[type(command)])
            self._pass_ratings(run_id, bridge, reader)
        except StoreError as error:  # busy: the next look may succeed
            logger.warning("What was asked of run %d cannot be read: %s", run_id, error)
        except OSError as error:
            logger.warning("Run %d cannot be told what was asked of it: %s", run_id, error)

    def _pass_ratings(self, run_id: int, bridge: BridgeFolder, reader: StoreReader) -> None:
        now_s = time.monotonic()
        if now_s - self._looked_s < RATINGS_S:
            return
        self._looked_s = now_s
        newest = reader.newest_rating()
        if newest == self._newest:
            return
        self._newest = newest
        values = human_values(RatingLog(reader.group_ratings(run_id)))
        for ref, group in values.items():
            batch = bridge.batches.get(ref.step)
            if batch is None or self._sent.get(ref) == group.values:
                continue
            session, generation, size = batch
            first = ref.index * size
            self._place.rate(
                bridge.name,
                [
                    {"session": session, "generation": generation, "row": first + i, "rating": value}
                    for i, value in enumerate(group.values)
                ],
            )
            self._sent[ref] = group.values
