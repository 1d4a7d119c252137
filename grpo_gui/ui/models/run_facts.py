"""What stands in the run panel: the run's settings in a few words each, with tooltips."""

import json
from pathlib import Path
from typing import NamedTuple

from grpo_gui.outside.pieces import WORLD_SIZE
from grpo_gui.store.records import RunRecord
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.run_text import start_time


class Fact(NamedTuple):
    """One row: a name, its value, and what it means."""

    name: str
    value: str
    tooltip: str


def facts(run: RunRecord, config: TrainConfig | None) -> list[Fact]:
    """The rows for a run; those of its settings are left out when it was made by another program."""
    rows = _router(run) if run.origin == "router" else [] if config is None else _settings(run, config)
    return [
        Fact("Task", _task(run, config), "What the problems are made of."),
        *rows,
        *_parent(run),
        *_processes(run.config if config is None else ""),
        *_seed(run),
        Fact("Device", run.device, "device: where the tensors live."),
        Fact("Started", start_time(run.created_s), "When the run was created."),
    ]


def _seed(run: RunRecord) -> list[Fact]:
    """The seed; a run made elsewhere may not tell it."""
    if run.seed < 0:
        return []
    return [Fact("Seed", str(run.seed), "seed: the same config and seed give the same numbers on the same machine.")]


def _parent(run: RunRecord) -> list[Fact]:
    if run.parent_run_id is None:
        return []
    place = f"run {run.parent_run_id}, step {run.parent_step}"
    return [Fact("Branch of", place, "The run and the step whose weights this run began with.")]


def _processes(config: str) -> list[Fact]:
    """How many processes train a run of another program, as the run itself says."""
    try:
        count = str(json.loads(config)[WORLD_SIZE])
    except (ValueError, KeyError, TypeError):
        return []
    return [Fact("Processes", count, "WORLD_SIZE: processes that train together, counted by the run itself.")]


def _settings(run: RunRecord, config: TrainConfig) -> list[Fact]:
    size = f", {parameter_count(run.parameters)}" if run.parameters else ""
    policy = "built-in" if config.model == "builtin" else config.model.replace("\\", "/").rstrip("/").split("/")[-1]
    level = "sequence" if config.importance_sampling_level == "sequence" else "token"
    batch = f"{config.prompts_per_step} prompts \u00d7 {config.num_generations}"
    return [
        Fact("Preset", config.preset, "The set of options that the run began with."),
        Fact("Policy", policy + size, f"model: what is trained, and its number of parameters. {config.model}"),
        Fact("Batch", batch, "prompts_per_step \u00d7 num_generations: prompts of a step, completions of each."),
        Fact("Inner steps", str(config.num_iterations), "num_iterations: updates on the same completions."),
        Fact("Loss", f"{config.loss_type}, {level} ratio", "loss_type, importance_sampling_level."),
        Fact("Reward", _rewards(config), "The reward sources with their weights."),
    ]


def _router(run: RunRecord) -> list[Fact]:
    try:
        options = json.loads(run.config)
        features, inner = str(options["features"]), str(options["num_iterations"])
    except (ValueError, KeyError, TypeError):
        return []
    size = f", {parameter_count(run.parameters)}" if run.parameters else ""
    return [
        Fact("Policy", f"network{size}", "It chooses the model that answers, a completion of one token."),
        Fact("Features", Path(features).name, f"How it sees queries. {features}"),
        Fact("Inner steps", inner, "num_iterations: updates on the same ratings."),
    ]


def parameter_count(parameters: int) -> str:
    """A number of parameters as people say it: 0.6 M, 1.2 B."""
    if parameters < 100_000:
        return f"{parameters / 1000:.3g} k"
    return f"{parameters / 1e6:.1f} M" if parameters < 1e9 else f"{parameters / 1e9:.1f} B"


def _task(run: RunRecord, config: TrainConfig | None) -> str:
    if config is None:
        return run.task
    if config.task == "mix":
        return "mix of " + ", ".join(name for name, _ in config.task_mix) if config.task_mix else "mix"
    if config.task == "file":
        return config.prompt_file.replace("\\", "/").split("/")[-1]
    sizes = f", {config.min_size} to {config.max_size}" if config.max_size else ""
    return config.task + sizes


def _rewards(config: TrainConfig) -> str:
    if len(config.rewards) == 1 and config.rewards[0].weight == 1:
        return config.rewards[0].name
    return ", ".join(f"{spec.name} {spec.weight:g}" for spec in config.rewards)
