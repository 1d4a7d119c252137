"""`grpo-gui resume`: go on with a run that was stopped, interrupted or finished."""

import sys
from pathlib import Path

import click

from grpo_gui.cli.console import ending
from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.cli.train import Commands, Found, Watch, echo_findings, echo_where_to_rate, exit_code, with_output
from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus
from grpo_gui.snapshots.choosing import find_snapshot
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord
from grpo_gui.training.headless import resume_headless
from grpo_gui.training.resuming import config_to_resume


@click.command()
@click.argument("run_id", metavar="RUN", type=int)
@click.option("--steps", metavar="+N", help="So many more steps, or N for a new total.")
@click.option("--step", metavar="N|best", help="Go on from this snapshot; what came after it is kept, but hidden.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line per step instead of the progress bar.")
@database_option
@click.pass_context
def resume(
    context: click.Context, run_id: int, steps: str | None, step: str | None, as_json: bool, database: Path | None
) -> None:
    """Go on with RUN from where its state was saved, with the numbers of a run that was never cut off."""
    database = chosen_database(context, database)
    snapshot, from_step = None, None
    if step is not None:
        record, snapshot = find_snapshot(database, str(run_id), step)
        from_step = record.step
    run = _run(database, run_id)
    config = config_to_resume(run, steps, from_step)

    echo_where_to_rate(config, database, as_json=as_json)

    def go_on(commands: Commands, watch: Watch, found: Found) -> RunStatus:
        return resume_headless(run, config, database, snapshot=snapshot, commands=commands, watch=watch, found=found)

    status = with_output(config, go_on, as_json=as_json)
    click.echo(ending(status, run_id, str(database)), err=as_json)
    echo_findings(database, run_id, as_json=as_json)
    sys.exit(exit_code(status))


def _run(database: Path, run_id: int) -> RunRecord:
    with StoreReader(database) as reader:
        run = reader.run(run_id)
    if run is None:
        raise BadInputError(f"There is no run {run_id} in {database}; grpo-gui runs lists them.")
    return run
