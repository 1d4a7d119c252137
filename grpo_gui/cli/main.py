"""The command group, and how errors become one line and an exit code."""

import sys
from pathlib import Path

import click

from grpo_gui import __version__
from grpo_gui.cli.diagnose import diagnose
from grpo_gui.cli.export import export
from grpo_gui.cli.follow import follow
from grpo_gui.cli.imports import import_command
from grpo_gui.cli.listing import check
from grpo_gui.cli.options import database_option
from grpo_gui.cli.pretrain import pretrain
from grpo_gui.cli.ratings import ratings
from grpo_gui.cli.resume import resume
from grpo_gui.cli.rewards import rewards
from grpo_gui.cli.router import router
from grpo_gui.cli.runs import runs
from grpo_gui.cli.sample import sample
from grpo_gui.cli.train import train
from grpo_gui.errors import BadInputError, GrpoGuiError


@click.group(invoke_without_command=True)
@click.version_option(__version__, prog_name="grpo-gui")
@database_option
@click.pass_context
def cli(context: click.Context, database: Path | None) -> None:
    """Run, watch, steer and judge GRPO on your own machine. Without a command the window opens."""
    context.obj = database
    if context.invoked_subcommand is None:
        from grpo_gui.app import open_window

        context.exit(open_window(database))


for command in (
    train,
    resume,
    runs,
    import_command,
    follow,
    sample,
    export,
    rewards,
    pretrain,
    check,
    diagnose,
    ratings,
    router,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line; errors for people are one line on standard error.

    Exit codes: 0 success, 1 the work failed, 2 bad input, 130 interrupted.
    """
    try:
        result = cli.main(standalone_mode=False)
    except click.UsageError as error:
        _fail(error.format_message(), 2)
    except BadInputError as error:
        _fail(str(error), 2)
    except GrpoGuiError as error:
        _fail(str(error), 1)
    except OSError as error:
        _fail(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}.", 1)
    except (click.Abort, KeyboardInterrupt):
        _fail("Interrupted.", 130)
    else:
        sys.exit(result if isinstance(result, int) else 0)


def _fail(message: str, code: int) -> None:
    click.echo(f"grpo-gui: {message}", err=True)
    sys.exit(code)
