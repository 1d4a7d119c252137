"""Garbage collection on the GUI thread only.

Python's cyclic collector runs on whichever thread happens to allocate; on the trainer's thread it would destroy
widgets there. So the automatic collector is off in the process of the window, and a GUI timer collects instead.
"""

import gc

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 500
YOUNG_LIMIT = 2_000  # new container objects since the last look
OLDER_EVERY = 10  # passes of a generation before the next older one is looked at


class GarbageCollector(QObject):
    """Switches the automatic collector off and collects from a timer, youngest first."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._passes = [0, 0]
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        """Take over from the automatic collector."""
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Hand back to the automatic collector."""
        self._timer.stop()
        gc.enable()

    def freeze(self) -> None:
        """Put all that is alive now out of the collector's sight: a full pass with torch loaded takes 220 ms."""
        gc.collect()
        gc.freeze()

    def look(self) -> None:
        """Collect the youngest generation when it has grown, an older one after every tenth pass."""
        if gc.get_count()[0] < YOUNG_LIMIT:
            return
        generation = 0
        self._passes[0] += 1
        if self._passes[0] % OLDER_EVERY == 0:
            generation = 1
            self._passes[1] += 1
            if self._passes[1] % OLDER_EVERY == 0:
                generation = 2
        gc.collect(generation)
