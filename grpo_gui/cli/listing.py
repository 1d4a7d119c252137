"""What the database and the machine hold, in lines; `grpo-gui check`."""

import importlib.metadata
import os
import platform
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from grpo_gui import __version__
from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.errors import StoreError
from grpo_gui.store.connections import sqlite_version
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord

PACKAGES = (
    "torch",
    "PySide6-Essentials",
    "pyqtgraph",
    "sqlite-utils",
    "tokenizers",
    "safetensors",
    "transformers",
    "trl",
)


@click.command()
@database_option
@click.pass_context
def check(context: click.Context, database: Path | None) -> None:
    """Say what this machine has: versions, devices, display, database."""
    for line in environment_lines(chosen_database(context, database)):
        click.echo(line)


def run_lines(database: Path) -> Iterator[str]:
    """One line per run, newest first, under a header."""
    with StoreReader(database) as reader:
        runs = reader.runs()
    yield f"{'id':>4}  {'state':<12} {'steps':>6}  {'reward':>6}  {'held-out':>8}  {'started':<16}  name"
    for run in runs:
        yield _run_line(run)


def _run_line(run: RunRecord) -> str:
    metrics = dict(run.final_metrics)
    started = datetime.fromtimestamp(run.created_s).strftime("%Y-%m-%d %H:%M")
    newest = metrics.get("eval/reward")  # as the Runs view shows it
    held_out = _number(metrics.get("eval/accuracy") if newest is None else newest)
    reward = _number(metrics.get("reward"))
    return f"{run.id:>4}  {run.status.value:<12} {run.steps_done:>6}  {reward:>6}  {held_out:>8}  {started}  {run.name}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def environment_lines(database: Path) -> Iterator[str]:
    """What a bug report needs: versions, devices, display, database. Imports torch (seconds)."""
    import torch

    from grpo_gui.app.no_display import has_display

    yield f"grpo-gui {__version__}"
    yield f"Python {platform.python_version()} on {platform.platform()}, {os.cpu_count()} processors"
    for package in PACKAGES:
        yield f"{package} {_version(package)}"
    yield f"SQLite {sqlite_version()}"
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            memory = torch.cuda.get_device_properties(index).total_memory / 2**30
            yield f"device cuda:{index}: {torch.cuda.get_device_name(index)}, {memory:.0f} GiB"
    elif torch.backends.mps.is_available():
        yield "device mps"
    else:
        yield "device cpu (no GPU found)"
    yield "display: yes" if has_display() else "display: none; `grpo-gui train` works without one"
    yield f"database {database}: {_database_state(database)}"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _database_state(database: Path) -> str:
    if not database.exists():
        return "not there yet; the first run makes it"
    try:
        with StoreReader(database) as reader:
            return f"{len(reader.runs())} runs"
    except StoreError as error:
        return str(error)
