"""How the rest of the program holds a trainer, and what a trainer holds of the rest: two protocols."""

from typing import Protocol

from grpo_gui.commands import Command
from grpo_gui.events import Event


class EventSink(Protocol):
    """Where a trainer's events go."""

    def emit(self, event: Event) -> None:
        """Take an event; never blocks, never raises."""

    def congestion(self) -> str | None:
        """Return a sentence while the trainer must wait before its next step, else None."""

    def flush(self, timeout_s: float) -> bool:
        """Wait until all events so far are kept, so that a saved state never lies ahead of the record."""

    def write_ms(self) -> float | None:
        """Return how long the longest commit since the last call took; None where there was none. Never blocks."""


class TrainerHandle(Protocol):
    """A trainer somewhere: in a thread, in a child process, in an outside engine."""

    @property
    def run_id(self) -> int:
        """The run that this trainer trains."""

    def post(self, command: Command) -> None:
        """Hand a command to the trainer; never blocks. After the trainer's end it does nothing."""

    def stop(self, timeout_s: float) -> bool:
        """Ask the trainer to save its state and end, and wait at most `timeout_s`; True when it has ended."""

    def is_running(self) -> bool:
        """Tell whether the trainer is alive (training, paused or waiting)."""
