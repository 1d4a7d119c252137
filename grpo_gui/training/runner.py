"""Run a trainer to its end in the calling thread: the top of the trainer thread and of the headless program."""

import logging
import queue
import traceback
from pathlib import Path

from grpo_gui.commands import Command
from grpo_gui.errors import GrpoGuiError, StoreError
from grpo_gui.events import RunFailed, RunStatus, TrainerStatus
from grpo_gui.store.lock import RunClaim
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.handle import EventSink
from grpo_gui.training.rating_source import RatingSource

logger = logging.getLogger(__name__)


def claim_new_run(run_id: int, state_dir: Path, sink: EventSink) -> RunClaim:
    """Take a run that was made for a trainer of this process.

    Raises:
        BadInputError: another trainer has it; it is left alone.
        StoreError: its folder cannot be written; it is marked as failed.
    """
    claim = RunClaim(run_id, state_dir)
    try:
        claim.acquire()
    except StoreError as error:
        _say_failed(sink, RunFailed(run_id, 0, str(error), ""))
        raise
    return claim


def run_in_foreground(
    config: TrainConfig,
    claim: RunClaim,
    sink: EventSink,
    commands: "queue.SimpleQueue[Command]",
    resume: bool = False,
    snapshot: Path | None = None,
    ratings: RatingSource | None = None,
) -> RunStatus:
    """Train the claimed run, give the claim back and return how it ended.

    Never raises: what goes wrong becomes a RunFailed event.
    `resume` and `snapshot` say where to begin, `ratings` where those of people are; see `Trainer`.

    torch is imported here, so the first seconds go by before the trainer says more than that it is loading.
    """
    with claim:
        return _train(config, claim, sink, commands, resume, snapshot, ratings)


def _train(
    config: TrainConfig,
    claim: RunClaim,
    sink: EventSink,
    commands: "queue.SimpleQueue[Command]",
    resume: bool,
    snapshot: Path | None,
    ratings: RatingSource | None,
) -> RunStatus:
    run_id = claim.run_id
    sink.emit(TrainerStatus(run_id, RunStatus.WARMING_UP, 0, "Loading PyTorch."))
    trainer = None
    try:
        from grpo_gui.training.trainer import Trainer

        trainer = Trainer(config, run_id, sink, commands, claim.folder, resume, snapshot, ratings)
        return trainer.run()
    except GrpoGuiError as error:
        failed = RunFailed(run_id, trainer.step if trainer else 0, str(error), "")
    except Exception as error:  # the trainer thread's top: nothing may get lost here
        logger.exception("The trainer of run %d failed.", run_id)
        message = f"The trainer stopped by an error of its own ({type(error).__name__}: {error}); please report it."
        failed = RunFailed(run_id, trainer.step if trainer else 0, message, traceback.format_exc())
    _say_failed(sink, failed)
    return RunStatus.FAILED


def _say_failed(sink: EventSink, failed: RunFailed) -> None:
    sink.emit(failed)
    sink.emit(TrainerStatus(failed.run_id, RunStatus.FAILED, failed.step, failed.message))
