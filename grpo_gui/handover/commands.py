"""The command lines that start TRL's processes."""

import shlex
import sys
from pathlib import Path

from grpo_gui.handover.accelerate_file import NAME
from grpo_gui.handover.placement import Placement

RUNNER = "grpo_gui.handover.run_job"
PORT = 29500


def local_command(folder: Path, place: Placement) -> list[str]:
    """The command that starts all processes of this machine, with this Python."""
    python = [sys.executable]
    if place.uses_accelerate:
        return [*python, "-m", "accelerate.commands.launch", *_accelerate(folder, place), "-m", RUNNER, str(folder)]
    if place.processes == 1:
        return [*python, "-m", RUNNER, str(folder)]
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(place.processes)]
    return [*python, *torchrun, "-m", RUNNER, str(folder)]


def shown_commands(folder: Path, place: Placement) -> list[str]:
    """The commands to type on each of several machines, the first machine's first.

    They are equal with torchrun, whose machines find each other; accelerate wants to know the number of each.
    """
    if place.uses_accelerate:
        parts = [
            ["accelerate", "launch", *_accelerate(folder, place, rank), "-m", RUNNER, str(folder)]
            for rank in range(place.machines)
        ]
        return [shlex.join(part) for part in parts]
    return [
        shlex.join(
            [
                *("torchrun", "--nnodes", str(place.machines), "--nproc_per_node", str(place.processes)),
                *("--rdzv_backend", "c10d", "--rdzv_endpoint", f"{place.host.strip()}:{PORT}"),
                *("--rdzv_id", folder.parent.name or "grpo-gui", "-m", RUNNER, str(folder)),
            ]
        )
    ]


def _accelerate(folder: Path, place: Placement, rank: int = 0) -> list[str]:
    numbers = ["--num_processes", str(place.world_size), "--num_machines", str(place.machines)]
    if place.machines > 1:
        numbers += ["--machine_rank", str(rank), "--main_process_ip", place.host.strip()]
        numbers += ["--main_process_port", str(PORT)]
    return ["--config_file", str(folder / NAME), *numbers]
