"""The queue between a trainer and the writer's thread: lossless, counted in bytes."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from grpo_gui.events import Event
from grpo_gui.store.event_size import event_bytes


@dataclass(slots=True)
class Call:
    """Something the writer's thread does for a caller who waits for it."""

    work: Callable[[], object]
    locked: bool = True  # in a transaction
    done: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None


class EventQueue:
    """Events in order, and calls that go before them. All methods may be used from any thread.

    The writer looks at the oldest events with `batch` and takes them off with `remove` only after their
    commit, so that a failed write loses nothing.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: deque[tuple[Event, int]] = deque()
        self._calls: deque[Call] = deque()
        self._bytes = 0
        self._put = 0  # events ever put
        self._removed = 0  # events ever taken off
        self._urgent = False  # somebody waits for the events: do not gather any longer
        self._closed = False

    @property
    def size_bytes(self) -> int:
        """Estimated bytes of the events that wait."""
        return self._bytes

    @property
    def length(self) -> int:
        """The number of events that wait."""
        return len(self._events)

    @property
    def is_closed(self) -> bool:
        """True after `close`."""
        return self._closed

    def put(self, event: Event) -> bool:
        """Append an event; False when the queue is closed and nobody would write it."""
        size = event_bytes(event)
        with self._changed:
            if self._closed:
                return False
            self._events.append((event, size))
            self._bytes += size
            self._put += 1
            self._changed.notify_all()
            return True

    def put_call(self, call: Call) -> bool:
        """Append a call; False when the queue is closed and nobody would answer."""
        with self._changed:
            if self._closed:
                return False
            self._calls.append(call)
            self._changed.notify_all()
            return True

    def close(self) -> None:
        """Tell the writer's thread to end once it has tried to write what waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take_call(self) -> Call | None:
        """The oldest call, or None."""
        with self._changed:
            return self._calls.popleft() if self._calls else None

    def batch(self, limit: int) -> list[Event]:
        """The oldest events, at most `limit`; they stay in the queue."""
        with self._changed:
            return [event for event, _ in (self._events[i] for i in range(min(limit, len(self._events))))]

    def remove(self, count: int) -> None:
        """Take the oldest events off."""
        with self._changed:
            for _ in range(count):
                self._bytes -= self._events.popleft()[1]
            self._removed += count
            self._urgent = self._urgent and bool(self._events)
            self._changed.notify_all()

    def wait_for_work(self, gather_s: float) -> None:
        """Wait for a call, for the end, or for events; let events gather for `gather_s` unless somebody waits."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._events) or self._must_act())
            if not self._must_act():
                self._changed.wait_for(self._must_act, timeout=gather_s)

    def wait_before_retry(self, delay_s: float) -> None:
        """Wait a while after a failed write; a call or the end cuts it short."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._calls) or self._closed, timeout=delay_s)

    def wait_until_written(self, timeout_s: float) -> bool:
        """Wait until all events put so far are taken off; False when `timeout_s` was not enough."""
        with self._changed:
            target = self._put
            self._urgent = bool(self._events)
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._removed >= target, timeout=timeout_s)

    def _must_act(self) -> bool:
        return bool(self._calls) or self._closed or self._urgent
