"""`grpo-gui router`: evaluate it on rewards of one's own, export and import what it learned, replay its log."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grpo_gui.cli.options import chosen_database, database_option
from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.router.replay import Replayed, replay
from grpo_gui.router.state import table_to_json
from grpo_gui.router_events import RouterNetworkStarted
from grpo_gui.store.reader import StoreReader

if TYPE_CHECKING:
    from grpo_gui.router.learner import NetworkLearner

FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def router() -> None:
    """Evaluate, export, import and replay the router."""


@router.command()
@click.argument("file", type=FILE)
@click.option("--seeds", type=click.IntRange(1, 1000), default=5, show_default=True, help="How many shuffles.")
@click.option("--first-seed", type=click.IntRange(0), default=0, show_default=True, help="The seeds count from here.")
@click.option("--cost-weight", type=float, default=0.0, show_default=True, help="Reward lost per unit of cost.")
@click.option("--latency-weight", type=float, default=0.0, show_default=True, help="Reward lost per second.")
@click.option("--json", "as_json", is_flag=True, help="All figures with every seed's, as JSON.")
def evaluate(file: Path, seeds: int, first_seed: int, cost_weight: float, latency_weight: float, as_json: bool) -> None:
    """Measure the router on FILE.csv: query, class, one reward column (0 to 1) per model.

    Optional columns MODEL:cost and MODEL:latency (seconds). An empty class follows from the query's text.
    """
    from grpo_gui.router.evaluation import evaluate as measure
    from grpo_gui.router.rewards import TradeOff
    from grpo_gui.router.routing_data import read_routing_csv

    data = replace(read_routing_csv(file), trade_off=TradeOff(cost_weight, latency_weight))
    figures = measure(data, range(first_seed, first_seed + seeds))
    if as_json:
        click.echo(json.dumps(figures, ensure_ascii=False, allow_nan=False))
        return
    for line in _lines(figures):
        click.echo(line)


@router.command()
@click.argument("file", type=FILE)
@database_option
@click.pass_context
def export(context: click.Context, file: Path, database: Path | None) -> None:
    """Write the learned table to FILE.json and the active network, if any, to FILE.safetensors beside it."""
    replayed = _replayed(chosen_database(context, database), with_network=False)
    state = replayed.policy.state
    _write(file, table_to_json(state).encode("utf-8"))
    click.echo(f"Table with {len(state.arms.classes)} classes and {len(state.arms.models)} models: {file}")
    if state.scorers:
        network = file.with_suffix(".safetensors")
        _write(network, state.scorers[-1].to_bytes())
        click.echo(f"{state.policy_name.capitalize()}: {network}")


@router.command(name="import")
@click.argument("file", type=FILE)
@database_option
@click.pass_context
def import_(context: click.Context, file: Path, database: Path | None) -> None:
    """Take over the table in FILE.json, and the network in FILE.safetensors beside it, before the first decision."""
    from grpo_gui.router.policy import RouterPolicy
    from grpo_gui.store.writer import StoreWriter

    table, beside = _read(file).decode("utf-8", "replace"), file.with_suffix(".safetensors")
    network = _read(beside) if beside.exists() else None
    RouterPolicy().import_table(table, network)  # refuse bad files before anything is written
    writer = StoreWriter.open(chosen_database(context, database))
    try:
        with StoreReader(writer.path) as reader:
            events = [entry.event for entry in reader.router_log()]
        record = writer.append_router
        policy = replay(events, record=record).policy if events else RouterPolicy(record=record)
        policy.import_table(table, network)
    finally:
        writer.close()
    click.echo(f"Taken over from {file}: {policy.state.policy_name}, {len(policy.state.arms.classes)} classes.")


@router.command(name="replay")
@click.option("--no-network", is_flag=True, help="Only the table; torch is not needed then.")
@database_option
@click.pass_context
def replay_(context: click.Context, no_network: bool, database: Path | None) -> None:
    """Make table and network again from the log and compare them with what was noted while learning."""
    replayed = _replayed(chosen_database(context, database), with_network=not no_network)
    state = replayed.policy.state
    click.echo(
        f"{len(state.decisions)} decisions, {sum(len(group.ratings) for group in state.groups)} ratings; "
        f"{replayed.weights_compared} updates of weights and {replayed.steps_compared} network steps compared."
    )
    for difference in replayed.differences[:20]:
        click.echo(difference)
    if replayed.differences:
        raise StoreError(f"{len(replayed.differences)} differences: the log does not reproduce what was learned.")
    click.echo("The log reproduces what was learned exactly.")


def _replayed(database: Path, *, with_network: bool) -> "Replayed[NetworkLearner]":
    with StoreReader(database) as reader:
        events = [entry.event for entry in reader.router_log()]
    if not events:
        raise BadInputError(f"The router has decided nothing yet in {database}; ask it a query first.")
    if not with_network or not any(isinstance(event, RouterNetworkStarted) for event in events):
        return replay(events)
    from grpo_gui.router.learner import NetworkLearner

    return replay(events, make_learner=NetworkLearner.from_event)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BadInputError(f"{file} cannot be read ({error.strerror}); check the name.") from error


def _write(file: Path, content: bytes) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise BadInputError(f"{file} cannot be written ({error.strerror}); choose another place.") from error


def _lines(figures: dict[str, Any]) -> list[str]:
    lines = [
        f"{figures['queries']} queries, {len(figures['models'])} models, {figures['classes']} classes, "
        f"{len(figures['seeds'])} seeds. Regret: rewards missed against the best model of each class, lower is better.",
        f"{'':<16}{'accuracy':>10}{'95 %':>18}{'regret':>10}{'95 %':>20}",
    ]
    for name, row in (("this router", figures), *figures["baselines"].items()):
        accuracy, regret = row["accuracy"], row["regret"]
        lines.append(
            f"{name.replace('_', ' '):<16}{accuracy['mean']:>10.4f}{_interval(accuracy, 4):>18}"
            f"{regret['mean']:>10.1f}{_interval(regret, 1):>20}"
        )
    after = figures["accuracy"]["after_ratings"]
    lines.append("this router after ratings: " + ", ".join(f"{n}: {row['mean']:.4f}" for n, row in after.items()))
    return lines


def _interval(figure: dict[str, Any], digits: int) -> str:
    if figure["low"] is None:
        return "-"
    return f"{figure['low']:.{digits}f} to {figure['high']:.{digits}f}"
