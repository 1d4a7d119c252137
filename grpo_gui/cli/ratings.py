"""`grpo-gui ratings`: ratings out to files that other trainers read, and back in."""

from pathlib import Path

import click

from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.errors import BadInputError
from grpo_gui.rating.files import EVENTS, FORMATS
from grpo_gui.store.reader import StoreReader

FILE = click.Path(dir_okay=False, path_type=Path)
_MEANING = {
    "events": "entries of the log",
    "pairs": "preference pairs for TRL's DPOTrainer",
    "labels": "binary labels for TRL's KTOTrainer",
}


@click.group()
def ratings() -> None:
    """Export and import what people said about completions."""


@ratings.command()
@click.argument("run", type=int)
@click.argument("file", type=FILE)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default=EVENTS,
    show_default=True,
    help="events: the whole log, to be imported again. pairs: prompt, chosen, rejected. "
    "labels: prompt, completion, label.",
)
@database_option
@click.pass_context
def export(context: click.Context, run: int, file: Path, kind: str, database: Path | None) -> None:
    """Write the ratings of RUN (its id, see `grpo-gui runs`) to FILE, one JSON object a line."""
    from grpo_gui.training.rating_files import export_ratings

    with StoreReader(chosen_database(context, database)) as reader:
        count = export_ratings(reader, _known(reader, run), kind, file)
    click.echo(f"{count} {_MEANING[kind]} are in {file}.")


@ratings.command(name="import")
@click.argument("run", type=int)
@click.argument("file", type=FILE)
@click.option("--rater", default="imported", show_default=True, help="Who gave pairs and labels, which do not say it.")
@database_option
@click.pass_context
def import_(context: click.Context, run: int, file: Path, rater: str, database: Path | None) -> None:
    """Take over the ratings in FILE (events, pairs or labels, which is told by its columns) for the groups of RUN."""
    from grpo_gui.store.writer import StoreWriter
    from grpo_gui.training.rating_files import import_ratings

    writer = StoreWriter.open(chosen_database(context, database))
    try:
        with StoreReader(writer.path) as reader:
            imported = import_ratings(reader, writer, _known(reader, run), file, rater)
    finally:
        writer.close()
    click.echo(imported.sentence)


def _known(reader: StoreReader, run_id: int) -> int:
    if reader.run(run_id) is None:
        raise BadInputError(f"There is no run {run_id} in this database; `grpo-gui runs` lists those that are.")
    return run_id
