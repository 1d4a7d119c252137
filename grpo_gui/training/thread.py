"""The trainer in a thread of this process. Free of torch until the thread runs."""

import queue
import threading
from pathlib import Path

from grpo_gui.commands import Command, Stop
from grpo_gui.store.lock import claimed_run
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.handle import EventSink
from grpo_gui.training.rating_source import RatingSource
from grpo_gui.training.runner import claim_new_run, run_in_foreground


class TrainerThread:
    """A TrainerHandle for a trainer in a thread of this process; it starts at once.

    The thread is a daemon, so that a trainer that hangs cannot keep the program alive; call `stop` before leaving.
    """

    def __init__(
        self,
        config: TrainConfig,
        run_id: int,
        sink: EventSink,
        state_dir: Path,
        resume: bool = False,
        snapshot: Path | None = None,
        ratings: RatingSource | None = None,
    ) -> None:
        """Claim the run and start.

        Raises:
            BadInputError: another trainer has the run.
            StoreError: the run's folder cannot be written.
        """
        claim = claimed_run(run_id, state_dir) if resume else claim_new_run(run_id, state_dir, sink)
        self._run_id = run_id
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=run_in_foreground,
            args=(config, claim, sink, self._commands, resume, snapshot, ratings),
            name=f"trainer of run {run_id}",
            daemon=True,
        )
        self._thread.start()

    @property
    def run_id(self) -> int:
        """The run that this trainer trains."""
        return self._run_id

    def post(self, command: Command) -> None:
        """Hand a command to the trainer; it is read after the micro-batch at hand."""
        self._commands.put(command)

    def stop(self, timeout_s: float) -> bool:
        """Ask the trainer to save its state and end, and wait at most `timeout_s`; True when it has ended."""
        self.post(Stop())
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def is_running(self) -> bool:
        """Tell whether the thread is alive."""
        return self._thread.is_alive()
