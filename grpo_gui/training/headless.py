"""Training without a screen: the same trainer and store, watched by a callback instead of a window."""

import queue
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from grpo_gui.commands import Command, Stop
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import facts_from_config
from grpo_gui.diagnose.finding import Finding
from grpo_gui.events import Event, RunStatus, TrainerStatus
from grpo_gui.paths import run_files_dir
from grpo_gui.store.lock import claimed_run
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun, RunRecord
from grpo_gui.store.writer import StoreWriter
from grpo_gui.tasks.making import make_task
from grpo_gui.tasks.rewards import needs_answer
from grpo_gui.training.command_table import polling
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.diagnosing import diagnose_run
from grpo_gui.training.live_diagnosis import LiveDiagnosis
from grpo_gui.training.presets import run_name
from grpo_gui.training.rating_source import StoredRatings
from grpo_gui.training.resuming import begins_anew
from grpo_gui.training.validation import config_from_json, config_to_json, validate


class _WatchedSink:
    """Hands each event to the store, then to whoever watches and to the diagnosis.

    A trainer that pauses by itself, because memory runs out or a reward function fails, says why. Perhaps nobody looks,
    so it is stopped with its state saved; `has_paused` then tells that it did not end by the user's wish. A pause that
    a window asked for says nothing, and goes on when that window wants it.
    """

    def __init__(
        self,
        writer: StoreWriter,
        watch: Callable[[Event], None],
        commands: "queue.SimpleQueue[Command]",
        diagnosis: LiveDiagnosis,
    ) -> None:
        self._writer, self._watch, self._commands, self._diagnosis = writer, watch, commands, diagnosis
        self.has_paused = False

    def emit(self, event: Event) -> None:
        """Store the event and show it."""
        self._writer.emit(event)
        self._watch(event)
        self._diagnosis.take(event)
        if isinstance(event, TrainerStatus) and event.status is RunStatus.PAUSED and event.message:
            self.has_paused = True
            self._commands.put(Stop())

    def congestion(self) -> str | None:
        """The store's reason to wait, or None."""
        return self._writer.congestion()

    def flush(self, timeout_s: float) -> bool:
        """Wait for the store's commit."""
        return self._writer.flush(timeout_s)

    def write_ms(self) -> float | None:
        """The store's longest commit since the last call."""
        return self._writer.write_ms()


def train_headless(
    config: TrainConfig,
    database: Path,
    *,
    commands: "queue.SimpleQueue[Command]",
    watch: Callable[[Event], None],
    started: Callable[[int], None],
    found: Callable[[Finding], None],
) -> RunStatus:
    """Train a new run to its end in this thread and return how it ended: PAUSED when it could not go on by itself.

    Args:
        config: validated here.
        database: created when it does not exist.
        commands: put Stop() in it to end the run early; those that windows leave in the database join them.
        watch: called with every event after the store took it; must not raise.
        started: called with the new run's id before the trainer warms up.
        found: called with each finding that opens or gets worse.

    Raises:
        BadInputError: the config cannot be used.
        StoreError: the database cannot be used.
    """
    validate(config)
    if config.task == "file":
        _require_usable_data(config)
    # torch takes seconds to import, so it comes after all that can be checked without it.
    from grpo_gui.training.devices import choose_device
    from grpo_gui.training.runner import claim_new_run, run_in_foreground

    choose_device(config.device)
    writer = StoreWriter.open(database)
    try:
        run = NewRun(
            name=run_name(config),
            task=config.task,
            config=config_to_json(config),
            seed=config.seed,
            device=config.device,
            origin="headless",
        )
        run_id = writer.create_run(run)
        started(run_id)
        diagnosis = LiveDiagnosis(Diagnosis(facts_from_config(asdict(config))), found)
        sink = _WatchedSink(writer, watch, commands, diagnosis)
        claim = claim_new_run(run_id, run_files_dir(database, run_id), sink)
        with polling(run_id, writer, commands):
            status = run_in_foreground(config, claim, sink, commands, ratings=StoredRatings(database, run_id))
        writer.save_findings(run_id, diagnosis.records())
        return RunStatus.PAUSED if sink.has_paused else status
    finally:
        writer.close()


def _require_usable_data(config: TrainConfig) -> None:
    """Read the data file before a run is made for it: a bad row is wrong input, not a run that failed.

    Raises:
        BadInputError: the file cannot be used, with the lines of the bad rows.
    """
    make_task("file", prompt_file=config.prompt_file, needs_answer=needs_answer(spec.kind for spec in config.rewards))


def resume_headless(
    run: RunRecord,
    config: TrainConfig,
    database: Path,
    *,
    snapshot: Path | None,
    commands: "queue.SimpleQueue[Command]",
    watch: Callable[[Event], None],
    found: Callable[[Finding], None],
) -> RunStatus:
    """Go on with a run in this thread, from its newest state or from one of its snapshots; return how it ended.

    Args:
        run: one that does not train now.
        config: its own, perhaps with more steps (`config_to_resume`).
        database: where the run is kept.
        snapshot: one of its snapshots, or None.
        commands: put Stop() in it to end the run early.
        watch: called with every event after the store took it; must not raise.
        found: called with each finding that opens or gets worse.

    Raises:
        BadInputError: the run cannot go on.
        StoreError: the database cannot be used.
    """
    before = config_from_json(run.config)
    resume = snapshot is not None or not begins_anew(run)
    from grpo_gui.training.runner import run_in_foreground

    with closing(StoreWriter.open(database)) as writer:
        with StoreReader(database) as reader:
            diagnosis = LiveDiagnosis(diagnose_run(reader, run.id), found)
        sink = _WatchedSink(writer, watch, commands, diagnosis)
        with claimed_run(run.id, run_files_dir(database, run.id)) as claim:
            if config.steps != before.steps:
                writer.replace_config(run.id, config_to_json(config))
            ratings = StoredRatings(database, run.id)
            writer.take_commands(run.id)  # left over for an earlier process: a stop would end this one
            with polling(run.id, writer, commands):
                status = run_in_foreground(config, claim, sink, commands, resume, snapshot, ratings)
        writer.save_findings(run.id, diagnosis.records())
        return RunStatus.PAUSED if sink.has_paused else status
