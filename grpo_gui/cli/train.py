"""`grpo-gui train`: the trainer without a window."""

import queue
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import click

from grpo_gui.cli.console import JsonLines, ProgressLine, ending, patient_streams
from grpo_gui.cli.findings import summary_lines
from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.cli.rewards import rewards_from_files
from grpo_gui.cli.trl import placement, train_with_trl
from grpo_gui.commands import Command, Stop
from grpo_gui.diagnose.finding import Finding
from grpo_gui.errors import BadInputError
from grpo_gui.events import Event, RunStatus
from grpo_gui.handover.placement import SHARINGS
from grpo_gui.store.reader import StoreReader
from grpo_gui.tasks.gym_task import REASONING_GYM
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.diagnosing import stored_findings
from grpo_gui.training.headless import train_headless
from grpo_gui.training.presets import preset_config
from grpo_gui.training.rating_rules import has_human_reward
from grpo_gui.training.validation import parse_override

Commands = queue.SimpleQueue[Command]
Watch = Callable[[Event], None]
Found = Callable[[Finding], None]

BUILTIN_TASKS = ("compare", "sort", "add", "reverse", "mix")


@click.command()
@click.option("--preset", default="default", show_default=True, help="Where the settings start from.")
@click.option("--task", help="compare, sort, add, reverse, mix, or a data file (see --data).")
@click.option("--steps", type=int, help="Steps to train; a step is one rollout with its inner updates.")
@click.option("--seed", type=int, help="Same seed and settings on the same machine: the same numbers.")
@click.option("--device", help="auto, cpu, cuda:N or mps.")
@click.option("--model", help="A folder with a causal language model, a GGUF file, or builtin.")
@click.option("--lora", "lora_rank", type=int, metavar="RANK", help="Train a LoRA adapter of this rank.")
@click.option("--data", help="A JSONL, CSV, JSON or Parquet file with prompts, or reasoning_gym:NAME.")
@click.option(
    "--rewards",
    "reward_files",
    multiple=True,
    metavar="FILE.py[:NAME=WEIGHT]",
    help="Reward functions of yours, in place of the preset's; repeatable. Naming the file here confirms that its code "
    "may be run.",
)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Any other setting; repeatable.")
@click.option("--with", "engine", type=click.Choice(["trl"]), help="Let Hugging Face TRL train, in its own processes.")
@click.option("--processes", type=int, default=1, show_default=True, help="TRL's processes on each machine.")
@click.option(
    "--machines", type=int, default=1, show_default=True, help="Machines; you start the printed command there."
)
@click.option("--host", default="", help="Address of the first of several machines.")
@click.option(
    "--sharing",
    type=click.Choice(SHARINGS),
    default="torchrun",
    show_default=True,
    help="How TRL's processes share the model; all but torchrun through a file of accelerate.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON line per step instead of the progress bar.")
@click.option("--continue", "continued_run", type=int, hidden=True, help="Used by the window's background training.")
@database_option
@click.pass_context
def train(
    context: click.Context,
    preset: str,
    task: str | None,
    steps: int | None,
    seed: int | None,
    device: str | None,
    model: str | None,
    lora_rank: int | None,
    data: str | None,
    reward_files: tuple[str, ...],
    overrides: tuple[str, ...],
    engine: str | None,
    processes: int,
    machines: int,
    host: str,
    sharing: str,
    as_json: bool,
    continued_run: int | None,
    database: Path | None,
) -> None:
    """Train without a window. Exit code 0 only when all steps were done."""
    database = chosen_database(context, database)
    if continued_run is not None:
        from grpo_gui.training.background import continue_run

        sys.exit(exit_code(continue_run(continued_run, database)))
    given = {"steps": steps, "seed": seed, "device": device, "model": model, "lora_rank": lora_rank}
    config = _config(preset, task, given, overrides)
    if data is not None:
        config = replace(config, task="file", prompt_file=data)
    if reward_files:
        config = replace(config, rewards=rewards_from_files(reward_files))
    place = placement(engine, processes, machines, host, sharing)
    if place is not None:
        sys.exit(exit_code(train_with_trl(config, place, database, as_json=as_json)))
    status, _ = train_with_output(config, database, as_json=as_json)
    sys.exit(exit_code(status))


def _config(
    preset: str, task: str | None, given: dict[str, int | str | None], overrides: tuple[str, ...]
) -> TrainConfig:
    """The preset's config with everything that was given on the command line."""
    config = preset_config(preset)
    if task is not None:
        is_built_in = task in BUILTIN_TASKS
        if not is_built_in and "." not in task and not task.startswith(REASONING_GYM) and not Path(task).exists():
            raise BadInputError(f"There is no task {task!r}; it is {', '.join(BUILTIN_TASKS)}, or a data file.")
        config = replace(config, task=task) if is_built_in else replace(config, task="file", prompt_file=task)
    config = replace(config, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]  # click checked them
    for override in overrides:
        config = parse_override(config, override)
    return config


def train_with_output(config: TrainConfig, database: Path, *, as_json: bool) -> tuple[RunStatus, int]:
    """Train a new run, print what happens, and return how it ended and its id. Must run in the main thread."""
    run_ids: list[int] = []

    def started(run_id: int) -> None:
        run_ids.append(run_id)
        echo_where_to_rate(config, database, as_json=as_json)

    def train_new(commands: Commands, watch: Watch, found: Found) -> RunStatus:
        return train_headless(config, database, commands=commands, watch=watch, started=started, found=found)

    status = with_output(config, train_new, as_json=as_json)
    click.echo(ending(status, run_ids[0], str(database)), err=as_json)
    echo_findings(database, run_ids[0], as_json=as_json)
    return status, run_ids[0]


def echo_where_to_rate(config: TrainConfig, database: Path, *, as_json: bool) -> None:
    """Say how a run that uses ratings of people while it trains gets them."""
    if has_human_reward(config) and config.rating_mode != "offline":
        sentence = (
            f"People rate it in the Rate view of a window on the same database: grpo-gui --db {database}. There an "
            "update that waits can continue without; Ctrl+C here ends the run and keeps its state."
        )
        click.echo(sentence, err=as_json)


def with_output(
    config: TrainConfig, work: Callable[[Commands, Watch, Found], RunStatus], *, as_json: bool
) -> RunStatus:
    """Print what happens in a run of `config` while `work` trains it; signals stop it. Must run in the main thread."""
    commands: Commands = queue.SimpleQueue()
    _stop_on_signals(commands)
    output, errors = patient_streams()
    lines = JsonLines(output, errors, steps=config.steps, eval_steps=config.eval_steps)
    progress = ProgressLine(output, steps=config.steps)
    status = work(commands, *((lines, lines.tell) if as_json else (progress, progress.tell)))
    lines.flush()
    return status


def echo_findings(database: Path, run_id: int, *, as_json: bool) -> None:
    """Say at the end of a run what is wrong with it."""
    with StoreReader(database) as reader:
        findings = stored_findings(reader, run_id)
    for line in summary_lines(findings, run_id):
        click.echo(line, err=as_json)


def exit_code(status: RunStatus) -> int:
    """0 when all steps were done, 130 when the user stopped the run, else 1."""
    match status:
        case RunStatus.FINISHED:
            return 0
        case RunStatus.STOPPED:
            return 130
        case _:
            return 1


def _stop_on_signals(commands: Commands) -> None:
    """Ctrl+C and SIGTERM end the run after the micro-batch at hand; a second one ends it at once."""

    def stop(number: int, _frame: FrameType | None) -> None:
        commands.put(Stop())
        signal.signal(number, signal.SIG_DFL)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
