"""Where TRL shall run, and what makes that impossible."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from grpo_gui.training.config import TrainConfig

MISSING = 'TRL is missing; install it with: pip install "grpo-gui[trl]".'
ADAPTER = "adapter_config.json"
SHARINGS = ("torchrun", "ddp", "fsdp", "deepspeed")


@dataclass(frozen=True, slots=True)
class Placement:
    """How many processes train, and how they share the model.

    `processes` is the number on each machine. `sharing`: torchrun (every process holds the whole model), or
    accelerate with a file for DDP, FSDP or DeepSpeed. `host` is the address of the first of several machines.
    """

    processes: int = 1
    machines: int = 1
    sharing: str = "torchrun"
    host: str = ""

    @property
    def world_size(self) -> int:
        """Processes on all machines together."""
        return self.processes * self.machines

    @property
    def uses_accelerate(self) -> bool:
        """True where accelerate reads a file and starts the processes."""
        return self.sharing != "torchrun"


def missing_trl() -> list[str]:
    """The sentence that TRL is missing, when it is; it is not imported."""
    return [] if find_spec("trl") is not None and find_spec("datasets") is not None else [MISSING]


def problems(config: TrainConfig, place: Placement, devices: tuple[str, ...] | None = None) -> list[str]:
    """What must be changed before TRL can train this run, as sentences; empty when it can.

    `devices` are those that torch found on this machine; None: nobody has looked.
    """
    numbers = _bad_numbers(place)
    if numbers:
        return [numbers]
    found = [_bad_batch(config, place), _bad_model(config), *_bad_device(config, place, devices)]
    return [sentence for sentence in found if sentence]


def _bad_numbers(place: Placement) -> str:
    if place.processes < 1 or place.machines < 1:
        return "TRL needs at least one process on at least one machine."
    if place.sharing not in SHARINGS:
        return f"There is no way {place.sharing!r} to share a model; choose {', '.join(SHARINGS)}."
    if place.machines > 1 and not place.host.strip():
        return "Several machines find each other by the address of the first one; enter its name or IP address."
    if any(character.isspace() for character in place.host.strip()):
        return f"{place.host!r} is no address; enter the name or IP address of the first machine."
    return ""


def _bad_batch(config: TrainConfig, place: Placement) -> str:
    batch, world = config.prompts_per_step * config.num_generations, place.world_size
    if batch % world == 0:
        return ""
    return (
        f"{batch} completions a step ({config.prompts_per_step} prompts \u00d7 {config.num_generations}) cannot be "
        f"shared evenly by {world} processes; choose another number of processes or of prompts per step."
    )


def _bad_model(config: TrainConfig) -> str:
    if config.model.lower().endswith(".gguf"):
        return "TRL trains model folders, not GGUF files; choose a folder with safetensors."
    if config.model != "builtin" and (Path(config.model) / ADAPTER).is_file():
        return f"{config.model} holds an adapter; export it as a whole model first (grpo-gui export), then train that."
    return ""


def _bad_device(config: TrainConfig, place: Placement, devices: tuple[str, ...] | None) -> list[str]:
    found = []
    if config.device.startswith("cuda:") and place.world_size > 1:
        found.append(f"The device {config.device} is one graphics card; choose auto for {place.world_size} processes.")
    is_without_cards = config.device == "cpu" or (devices is not None and not any("cuda" in name for name in devices))
    if place.uses_accelerate and is_without_cards and place.machines == 1:
        found.append("accelerate starts several processes on graphics cards only; choose torchrun on the processor.")
    cards = 0 if devices is None else sum("cuda" in name for name in devices)
    if config.device != "cpu" and place.machines == 1 and 0 < cards < place.processes:
        found.append(f"This machine has {cards} graphics card(s) for {place.processes} processes; choose fewer.")
    return found
