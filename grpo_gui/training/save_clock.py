"""Tells when a running trainer shall save its state by itself, so that a crash costs seconds and saving hardly any."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

EVERY_S = 15.0
MOST_OF_THE_TIME = 0.02  # that saving may take


class SaveClock:
    """Due every 15 seconds, or less often where saving is slow (large models, slow disks)."""

    def __init__(self) -> None:
        self._saved_s = time.monotonic()
        self._wait_s = EVERY_S

    def is_due(self) -> bool:
        """True when the last save lies long enough back."""
        return time.monotonic() - self._saved_s >= self._wait_s

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Measure a save; the next one is due accordingly."""
        started_s = time.monotonic()
        try:
            yield
        finally:
            self._saved_s = time.monotonic()
            self._wait_s = max(EVERY_S, (self._saved_s - started_s) / MOST_OF_THE_TIME)
