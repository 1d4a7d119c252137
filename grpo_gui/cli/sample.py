"""`grpo-gui sample`: let a snapshot answer."""

from pathlib import Path

import click

from grpo_gui.cli.console import standard_output
from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.snapshots.choosing import find_model
from grpo_gui.training.playground import Playground, completion_length


@click.command()
@click.argument("snapshot", metavar="SNAPSHOT")
@click.option("--prompt", required=True, help="The text to answer.")
@click.option("--temperature", default=1.0, show_default=True, help="0 always takes the likeliest token.")
@click.option("--max-new-tokens", type=int, help="Longest answer; default: that of the snapshot's run, else 64.")
@click.option("--count", default=1, show_default=True, help="How many answers.")
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same answers.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda:N or mps.")
@database_option
@click.pass_context
def sample(
    context: click.Context,
    snapshot: str,
    prompt: str,
    temperature: float,
    max_new_tokens: int | None,
    count: int,
    seed: int,
    device: str,
    database: Path | None,
) -> None:
    """Print what SNAPSHOT answers: a folder, RUN, RUN:STEP, RUN:best, latest, or builtin."""
    model = find_model(chosen_database(context, database), snapshot)
    answers = Playground().ask(
        model,
        prompt,
        temperature=temperature,
        max_new_tokens=max_new_tokens if max_new_tokens is not None else completion_length(model),
        count=count,
        seed=seed,
        device=device,
    )
    output = standard_output()
    for answer in answers:
        output.write(answer.text + "\n")
    output.flush()
