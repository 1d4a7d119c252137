"""Measures where the time of a step goes; time spent in a pause does not count."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class StepClock:
    """Seconds by part of a step. `parts` may be handed in to go on with a step that was saved half done."""

    def __init__(self, parts: dict[str, float] | None = None) -> None:
        self.parts = dict(parts or {})
        self._idle_s = 0.0

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Add the time spent inside to `part`."""
        started_s, idle_s = time.perf_counter(), self._idle_s
        try:
            yield
        finally:
            busy_s = time.perf_counter() - started_s - (self._idle_s - idle_s)
            self.parts[part] = self.parts.get(part, 0.0) + busy_s

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Count the time spent inside for no part, not even for one that is being measured around it."""
        started_s = time.perf_counter()
        try:
            yield
        finally:
            self._idle_s += time.perf_counter() - started_s

    def total_s(self) -> float:
        """Seconds of all parts together."""
        return sum(self.parts.values())
