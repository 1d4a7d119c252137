"""Options that several commands share."""

from pathlib import Path

import click

from grpo_gui.paths import default_database

database_option = click.option(
    "--db", "database", type=click.Path(dir_okay=False, path_type=Path), help="Database file; default: the user's own."
)


def chosen_database(context: click.Context, database: Path | None) -> Path:
    """The command's own --db, else the one given before the command, else the user's default database."""
    return database or context.obj or default_database()
