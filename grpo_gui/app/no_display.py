"""What the program does where no window can be opened: train headless, then draw the dashboard into a file."""

import os
import sys
from pathlib import Path

import click

from grpo_gui.app.picture import save_dashboard
from grpo_gui.cli.train import exit_code, train_with_output
from grpo_gui.paths import run_files_dir, settings_file
from grpo_gui.settings import database_of, load
from grpo_gui.training.presets import preset_config


def has_display() -> bool:
    """Whether a window can be opened here. A Qt platform that the user named counts as a display."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def train_without_display(database: Path | None) -> int:
    """Train the default preset with a progress bar, write a picture of its dashboard, and return the exit code."""
    database = database or database_of(load(settings_file()).settings)
    click.echo("There is no display here, so the default run is trained without a window.")
    status, run_id = train_with_output(preset_config("default"), database, as_json=False)
    picture = run_files_dir(database, run_id) / "dashboard.png"
    save_dashboard(database, run_id, picture)
    click.echo(f"A picture of its dashboard is in {picture}.")
    return exit_code(status)
