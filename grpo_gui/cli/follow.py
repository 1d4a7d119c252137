"""`grpo-gui follow`: a run that goes on elsewhere, into the database while it goes on."""

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.outside.following import Follower
from grpo_gui.outside.ssh_place import place_of
from grpo_gui.store.writer import StoreWriter


@click.command()
@click.argument("place", metavar="PATH|ssh://HOST/PATH")
@database_option
@click.pass_context
def follow(context: click.Context, place: str, database: Path | None) -> None:
    """Follow the run at PATH while it goes on, until it ends or Ctrl+C.

    PATH may lie on another machine that your own ssh reaches without asking for a password, and need not be there yet.
    Following again goes on where it stopped.
    """
    target = chosen_database(context, database)
    target.parent.mkdir(parents=True, exist_ok=True)
    with closing(StoreWriter.open(target)) as writer:
        follower = Follower(place_of(place, target), writer)
        follower.said = _say(follower)
        follower.waits = click.echo
        click.echo(f"Following {follower.place.name}; Ctrl+C ends it.")
        try:
            follower.run(threading.Event())
        except KeyboardInterrupt:
            click.echo("No longer followed.")


def _say(follower: Follower) -> Callable[[str, int, str], None]:
    def say(status: str, step: int, message: str) -> None:
        click.echo(f"Run {follower.run_id}: {status}, step {step}. {message}".rstrip())

    return say
