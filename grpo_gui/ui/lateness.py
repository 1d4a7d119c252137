"""How late the window's event loop runs: what a person feels as stutter, in milliseconds."""

import time
from collections import deque

from PySide6.QtCore import QObject, Qt, QTimer

INTERVAL_MS = 25
WINDOW = 200  # ticks: five seconds


class LatenessMeter(QObject):
    """A precise timer that notes how much later than due each tick comes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.values_ms: deque[float] = deque(maxlen=WINDOW)
        self._due = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin to measure."""
        self._due = time.perf_counter() + INTERVAL_MS / 1000
        self._timer.start()

    def stop(self) -> None:
        """End the timer."""
        self._timer.stop()

    def p95_ms(self) -> float:
        """Return the lateness that 95 of 100 recent ticks stayed under; 0 before the first."""
        if not self.values_ms:
            return 0.0
        ordered = sorted(self.values_ms)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]

    def _tick(self) -> None:
        now = time.perf_counter()
        self.values_ms.append(max(0.0, (now - self._due) * 1000))
        self._due = now + INTERVAL_MS / 1000
