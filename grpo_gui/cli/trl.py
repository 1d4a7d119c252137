"""`grpo-gui train --with trl`: TRL's processes, looked after in this one, with the output of any other training."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click
import numpy as np

from grpo_gui.cli.console import JsonLines, ProgressLine, ending, patient_streams
from grpo_gui.errors import BadInputError
from grpo_gui.events import Event, RunStatus, StepCompleted
from grpo_gui.handover.commands import shown_commands
from grpo_gui.handover.differences import differences
from grpo_gui.handover.placement import Placement
from grpo_gui.handover.starting import job_folder, prepare
from grpo_gui.handover.supervisor import supervise
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.config import TrainConfig

EVERY_STEP = "loss"  # the metric that TRL logs at each of its steps


def placement(engine: str | None, processes: int, machines: int, host: str, sharing: str) -> Placement | None:
    """Where the options say that the run is trained; None: in this process, by the trainer of this program.

    Raises:
        BadInputError: options of TRL without `--with trl`.
    """
    place = Placement(processes, machines, sharing, host)
    if engine is None and place != Placement():
        raise BadInputError("--processes, --machines, --host and --sharing go together with --with trl; add it.")
    return None if engine is None else place


def train_with_trl(config: TrainConfig, place: Placement, database: Path, *, as_json: bool) -> RunStatus:
    """Train a new run with TRL, print what happens, and return how it ended. Must run in the main thread."""
    from grpo_gui.training.devices import choose_device  # imports torch

    choose_device(config.device)
    click.echo("\n- ".join(["What TRL does differently:", *differences(config)]), err=True)
    database.parent.mkdir(parents=True, exist_ok=True)
    with closing(StoreWriter.open(database)) as writer:
        run_id = prepare(config, place, writer, database)
    if place.machines > 1:
        click.echo("Start on each machine:", err=True)
        for command in shown_commands(job_folder(database, run_id), place):
            click.echo(command, err=True)
    (output, errors), steps = patient_streams(), config.steps * config.num_iterations
    show = JsonLines(output, errors, steps=steps, eval_steps=0) if as_json else ProgressLine(output, steps=steps)
    with StoreReader(database) as reader:
        reports = StepReports(reader, run_id, show)
        status = supervise(run_id, database, reports.look)
        reports.look(is_over=True)
        run = reader.run(run_id)
    if run is not None and run.message:
        click.echo(run.message, err=True)
    click.echo(ending(status, run_id, str(database)), err=as_json)
    return status


class StepReports:
    """Tells of each step of a followed run once the next one has begun, so that all its numbers are there."""

    def __init__(self, reader: StoreReader, run_id: int, show: Callable[[Event], None]) -> None:
        self._reader, self._run_id, self._show = reader, run_id, show
        self._told = 0

    def look(self, *, is_over: bool = False) -> None:
        """Tell of the steps that are complete."""
        steps = self._reader.points(self._run_id, EVERY_STEP, self._told).steps.tolist()
        complete = steps if is_over else steps[:-1]
        if not complete:
            return
        values: dict[int, list[tuple[str, float]]] = {step: [] for step in complete}
        for name in self._reader.series_names(self._run_id):
            points = self._reader.points(self._run_id, name, self._told)
            for step, value in zip(points.steps.tolist(), points.values.tolist(), strict=True):
                if step in values:
                    values[step].append((name, value))
        times = self._reader.totals(self._run_id, self._told)
        time_of = dict(zip(times.steps.tolist(), np.nan_to_num(times.times_s).tolist(), strict=True))
        for step in complete:
            metrics = tuple(values[step])
            self._show(StepCompleted(self._run_id, step, step, time_of.get(step, 0.0), metrics, ()))
        self._told = complete[-1]
