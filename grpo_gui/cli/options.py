"""Options that several commands share."""

from pathlib import Path

import click

from grpo_gui.paths import settings_file
from grpo_gui.settings import database_of, load

database_option = click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Database file; default: that of the settings.",
)


def chosen_database(context: click.Context, database: Path | None) -> Path:
    """The command's own --db, else the one given before the command, else that of the settings, as the window does."""
    given: Path | None = database or context.obj
    if given is not None:
        return given
    return database_of(load(settings_file()).settings)
