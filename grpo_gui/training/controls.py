"""What the user wants of a running trainer, read from the queue of commands."""

import queue
from enum import Enum
from typing import assert_never

from grpo_gui.commands import (
    Command,
    ContinueWithout,
    HandOver,
    Pause,
    Resume,
    SaveSnapshot,
    SetHyperparameters,
    SetRatingMode,
    SetRatingShrink,
    Step,
    Stop,
)

RatingChange = SetRatingMode | SetRatingShrink


class Wish(Enum):
    """What the trainer shall do next."""

    RUN = "run"
    PAUSE = "pause"
    STOP = "stop"
    HAND_OVER = "hand over"


class Controls:
    """Turns the commands into the latest wish; used by the trainer's thread only."""

    def __init__(self, commands: "queue.SimpleQueue[Command]") -> None:
        self._commands = commands
        self._one_step = False
        self._changes: list[SetHyperparameters] = []
        self._rating_changes: list[RatingChange] = []
        self._goes_on_without = False
        self._wants_snapshot = False
        self.wish = Wish.RUN

    def poll(self) -> None:
        """Take every waiting command."""
        while True:
            try:
                self._take(self._commands.get_nowait())
            except queue.Empty:
                return

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait for a command, at most `timeout_s` (None: for ever), then take every waiting one."""
        try:
            self._take(self._commands.get(timeout=timeout_s))
        except queue.Empty:
            return
        self.poll()

    def pause(self) -> None:
        """Pause as if the user had asked for it."""
        self._take(Pause())

    def step_done(self) -> None:
        """Note that a step is complete: after a single step the trainer pauses."""
        if self._one_step:
            self.pause()

    def take_changes(self) -> list[SetHyperparameters]:
        """Return the changes of hyperparameters that came since the last call, oldest first."""
        changes, self._changes = self._changes, []
        return changes

    def take_rating_changes(self) -> list[RatingChange]:
        """Return what was asked about ratings since the last call, oldest first."""
        changes, self._rating_changes = self._rating_changes, []
        return changes

    def take_continue_without(self) -> bool:
        """Return whether a waiting update was told to go on since the last call."""
        wanted, self._goes_on_without = self._goes_on_without, False
        return wanted

    def take_snapshot_wish(self) -> bool:
        """Return whether a snapshot was asked for since the last call."""
        wanted, self._wants_snapshot = self._wants_snapshot, False
        return wanted

    def _take(self, command: Command) -> None:
        match command:
            case SetHyperparameters():
                self._changes.append(command)
            case SetRatingMode() | SetRatingShrink():
                self._rating_changes.append(command)
            case ContinueWithout():
                self._goes_on_without = True
            case SaveSnapshot():
                self._wants_snapshot = True
            case Stop():
                self.wish = Wish.STOP
            case _ if self.wish is Wish.STOP:
                pass  # a stop cannot be taken back
            case HandOver():
                self.wish = Wish.HAND_OVER
            case _ if self.wish is Wish.HAND_OVER:
                pass
            case Pause():
                self.wish, self._one_step = Wish.PAUSE, False
            case Resume():
                self.wish, self._one_step = Wish.RUN, False
            case Step():
                self.wish, self._one_step = Wish.RUN, True
            case _:
                assert_never(command)
