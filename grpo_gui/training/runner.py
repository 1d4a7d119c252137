"""Run a trainer to its end in the calling thread: the top of the trainer thread and of the headless program."""

import logging
import queue
import traceback
from pathlib import Path

from grpo_gui.commands import Command
from grpo_gui.errors import GrpoGuiError
from grpo_gui.events import RunFailed, RunStatus, TrainerStatus
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.handle import EventSink
from grpo_gui.training.rating_source import RatingSource

logger = logging.getLogger(__name__)


def run_in_foreground(
    config: TrainConfig,
    run_id: int,
    sink: EventSink,
    commands: "queue.SimpleQueue[Command]",
    state_dir: Path,
    resume: bool = False,
    snapshot: Path | None = None,
    ratings: RatingSource | None = None,
) -> RunStatus:
    """Train the run and return how it ended. Never raises: what goes wrong becomes a RunFailed event.

    `resume` and `snapshot` say where to begin, `ratings` where those of people are; see `Trainer`.

    torch is imported here, so the first seconds go by before the trainer says more than that it is loading.
    """
    sink.emit(TrainerStatus(run_id, RunStatus.WARMING_UP, 0, "Loading PyTorch."))
    trainer = None
    try:
        from grpo_gui.training.trainer import Trainer

        trainer = Trainer(config, run_id, sink, commands, state_dir, resume, snapshot, ratings)
        return trainer.run()
    except GrpoGuiError as error:
        failed = RunFailed(run_id, trainer.step if trainer else 0, str(error), "")
    except Exception as error:  # the trainer thread's top: nothing may get lost here
        logger.exception("The trainer of run %d failed.", run_id)
        message = f"The trainer stopped by an error of its own ({type(error).__name__}: {error}); please report it."
        failed = RunFailed(run_id, trainer.step if trainer else 0, message, traceback.format_exc())
    sink.emit(failed)
    sink.emit(TrainerStatus(run_id, RunStatus.FAILED, failed.step, failed.message))
    return RunStatus.FAILED
