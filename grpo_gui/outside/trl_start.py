"""What is recorded when a TRL run begins: its settings, versions and processes. Nothing that looks like a secret."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from grpo_gui.outside.arguments import take_arguments
from grpo_gui.outside.pieces import RunInfo

_PACKAGES = ("trl", "transformers", "torch", "accelerate", "peft", "vllm", "deepspeed")


def start_values(args: Any, state: Any, trainer: Any) -> dict[str, object]:  # noqa: ANN401  # transformers' own types
    """The fields of a start event. `trainer` is None where only the callback is used."""
    info = RunInfo()
    take_arguments(info, args.to_dict())
    names = [] if trainer is None else list(trainer.reward_func_names)
    weights = [] if trainer is None else trainer.reward_weights.tolist()
    return {
        "name": args.run_name or Path(args.output_dir).absolute().name,
        "output_dir": str(Path(args.output_dir).absolute()),
        "world_size": args.world_size,
        "device": str(args.device),
        "max_steps": state.max_steps,
        "num_generations": getattr(args, "num_generations", None),
        "config": info.config,
        "reward_names": names,
        "reward_weights": weights,
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
