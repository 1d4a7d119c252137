"""The store's table of commands: how a trainer in another process is steered."""

import logging
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from grpo_gui.commands import Command
from grpo_gui.errors import StoreError

logger = logging.getLogger(__name__)

POLL_S = 0.25


class CommandTable(Protocol):
    """The store's table of commands, through which a trainer in another process is steered."""

    def post_command(self, run_id: int, command: Command) -> None:
        """Leave a command; blocks until it is committed."""

    def take_commands(self, run_id: int) -> list[Command]:
        """Return the commands left since the last call; each is taken once."""


@contextmanager
def polling(run_id: int, table: CommandTable, commands: "queue.SimpleQueue[Command]") -> Iterator[None]:
    """Move commands from the database into the trainer's queue, in a thread, while the context is open."""
    done = threading.Event()

    def poll() -> None:
        while not done.wait(POLL_S):
            try:
                for command in table.take_commands(run_id):
                    commands.put(command)
            except StoreError as error:  # busy or full: the next look may succeed
                logger.warning("The commands for run %d cannot be read: %s", run_id, error)

    thread = threading.Thread(target=poll, name=f"commands of run {run_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
