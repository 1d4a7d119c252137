"""Where trainers come from: a thread of this process, or a process of ours that survives the window."""

import json
from pathlib import Path

from grpo_gui.handover.commands import shown_commands
from grpo_gui.handover.placement import Placement
from grpo_gui.handover.starting import job_folder, prepare, start_supervisor
from grpo_gui.paths import run_files_dir
from grpo_gui.store.records import RunRecord
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.background import BackgroundHandle, start_background
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.handle import TrainerHandle
from grpo_gui.training.rating_source import StoredRatings
from grpo_gui.training.thread import TrainerThread
from grpo_gui.ui.event_pump import EventPump, TeeSink
from grpo_gui.ui.trl_start import HandedOver


class Launcher:
    """Wires each trainer to the store and the window."""

    def __init__(self, database: Path, writer: StoreWriter, pump: EventPump) -> None:
        self._database, self._writer, self._pump = database, writer, pump

    def start(self, config: TrainConfig, run_id: int, *, resume: bool, snapshot: Path | None = None) -> TrainerHandle:
        """Start the embedded trainer."""
        sink = TeeSink(self._writer, self._pump.put)
        folder, ratings = run_files_dir(self._database, run_id), StoredRatings(self._database, run_id)
        return TrainerThread(config, run_id, sink, folder, resume, snapshot, ratings)

    def start_in_background(self, run_id: int) -> TrainerHandle:
        """Start a process that goes on with a run that was handed over; takes seconds."""
        self._writer.flush()
        return start_background(run_id, self._database, self._writer)

    def start_with_trl(self, config: TrainConfig, place: Placement, accelerate: str) -> HandedOver:
        """Begin a run that TRL trains and a process of ours looks after; takes seconds."""
        run_id = prepare(config, place, self._writer, self._database, accelerate)
        start_supervisor(run_id, self._database, self._writer)
        folder = job_folder(self._database, run_id)
        return HandedOver(run_id, tuple(shown_commands(folder, place)) if place.machines > 1 else ())

    def attach(self, run: RunRecord) -> TrainerHandle | None:
        """Return a handle for an active run of another process, None where nobody over there takes commands."""
        return BackgroundHandle(run.id, self._database, self._writer) if _takes_commands(run) else None


def _takes_commands(run: RunRecord) -> bool:
    """The router takes none; of followed runs only those that our bridge records do."""
    if run.origin == "followed":
        return bool(json.loads(run.config).get("program") == "bridge")
    return run.origin != "router"
