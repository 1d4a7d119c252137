"""The only bridge from the trainer's thread to the window: a queue, drained 30 times a second."""

import threading
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from grpo_gui.events import Event, StepCompleted
from grpo_gui.training.handle import EventSink

INTERVAL_MS = 33
MAX_QUEUED_STEPS = 64  # beyond this the window lags by seconds: it then reads the gap from the store


class EventPump(QObject):
    """Takes events from any thread and emits them on the GUI thread, one signal per batch.

    Steps are newest-wins: where more than `MAX_QUEUED_STEPS` wait, the oldest are dropped and `lagged`
    tells that the store holds steps which the window was not given. All other events arrive.
    """

    batch = Signal(object)  # list[Event]
    lagged = Signal()

    def __init__(self, interval_ms: int = INTERVAL_MS, max_queued_steps: int = MAX_QUEUED_STEPS) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._events: deque[Event] = deque()
        self._steps_queued = 0
        self._dropped = False
        self._max_queued_steps = max_queued_steps
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(interval_ms)
        self._timer.timeout.connect(self.drain)

    def start(self) -> None:
        """Begin to drain the queue."""
        self._timer.start()

    def stop(self) -> None:
        """Deliver what waits and end the timer."""
        self._timer.stop()
        self.drain()

    def put(self, event: Event) -> None:
        """Queue an event; callable from any thread, never blocks for long, never raises."""
        with self._lock:
            self._events.append(event)
            if isinstance(event, StepCompleted):
                self._steps_queued += 1
                if self._steps_queued > self._max_queued_steps:
                    self._drop_oldest_step()

    def drain(self) -> None:
        """Emit everything that waits as one batch."""
        with self._lock:
            events, self._events = list(self._events), deque()
            dropped, self._dropped = self._dropped, False
            self._steps_queued = 0
        if events:
            self.batch.emit(events)
        if dropped:
            self.lagged.emit()

    def _drop_oldest_step(self) -> None:
        for position, event in enumerate(self._events):
            if isinstance(event, StepCompleted):
                del self._events[position]
                self._steps_queued -= 1
                self._dropped = True
                return


class TeeSink:
    """An EventSink that hands each event to the store and to the window; the store decides on waiting."""

    def __init__(self, store: EventSink, show: Callable[[Event], None]) -> None:
        self._store, self._show = store, show

    def emit(self, event: Event) -> None:
        """Hand the event to both; never blocks, never raises."""
        self._store.emit(event)
        self._show(event)

    def congestion(self) -> str | None:
        """Return the store's reason for the trainer to wait, or None."""
        return self._store.congestion()

    def flush(self, timeout_s: float) -> bool:
        """Wait until the store has committed all events so far; False when `timeout_s` was not enough."""
        return self._store.flush(timeout_s)

    def write_ms(self) -> float | None:
        """Return the store's longest commit since the last call."""
        return self._store.write_ms()
