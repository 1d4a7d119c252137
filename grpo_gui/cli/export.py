"""`grpo-gui export`: a snapshot as a folder that transformers and other tools load."""

from pathlib import Path

import click

from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.snapshots.choosing import find_snapshot

DTYPES = ("fp32", "bf16", "fp16")


@click.command()
@click.argument("run", metavar="RUN|latest")
@click.option("--step", metavar="N|best", help="The snapshot of this step, or the best; default: the newest.")
@click.option(
    "--to", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder to write."
)
@click.option("--dtype", type=click.Choice(DTYPES), default="fp32", show_default=True, help="Precision of the weights.")
@database_option
@click.pass_context
def export(context: click.Context, run: str, step: str | None, folder: Path, dtype: str, database: Path | None) -> None:
    """Write a snapshot of RUN to a folder that AutoModelForCausalLM and AutoTokenizer load."""
    record, snapshot = find_snapshot(chosen_database(context, database), run, step)
    from grpo_gui.snapshots.exporting import export_snapshot  # torch takes seconds: only once the snapshot is found

    manifest = export_snapshot(snapshot, folder, dtype)
    click.echo(
        f"Step {record.step} of run {record.run_id} is in {folder} ({dtype}, {manifest.size_bytes / 1e6:.1f} MB); "
        "transformers loads it with AutoModelForCausalLM.from_pretrained."
    )
