"""Where a run may be trained, in words, and what each choice means for TRL's processes."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grpo_gui.handover.commands import local_command, shown_commands
from grpo_gui.handover.placement import Placement

HERE, ONE, SEVERAL, MACHINES = "here", "one", "several", "machines"

CHOICES = (
    (HERE, "In this window"),
    (ONE, "With TRL"),
    (SEVERAL, "TRL, several processes"),
    (MACHINES, "TRL, several machines"),
)
TOOLTIPS = {
    HERE: "The trainer of this program, in a thread of this window.",
    ONE: "Hugging Face TRL in one process of its own; this window follows it.",
    SEVERAL: "TRL in several processes of this machine, usually one for each graphics card.",
    MACHINES: "TRL on several machines: you get a command to start on each of them, and this window follows the run.",
}


class Sharing(NamedTuple):
    """A way in which several processes share a model."""

    value: str
    text: str
    tooltip: str


SHARINGS = (
    Sharing("torchrun", "DDP, started by torchrun", "Every process holds the whole model; torchrun starts them."),
    Sharing("ddp", "DDP, from an accelerate file", "Every process holds the whole model; accelerate starts them."),
    Sharing(
        "fsdp",
        "FSDP, from an accelerate file",
        "Each process holds a part of the model (Fully Sharded Data Parallel): for models that do not fit on one card.",
    ),
    Sharing(
        "deepspeed",
        "DeepSpeed ZeRO, from an accelerate file",
        "DeepSpeed shares optimizer and gradients (stage 2; the file can say another). Needs the package deepspeed.",
    ),
)


def choice_of(place: Placement | None) -> str:
    """Which of CHOICES a placement is; None is this window."""
    if place is None:
        return HERE
    if place.machines > 1:
        return MACHINES
    return SEVERAL if place.processes > 1 or place.uses_accelerate else ONE


def place_of(choice: str, before: Placement | None, cards: int) -> Placement | None:
    """The placement that a choice begins with: numbers that were entered before stay."""
    known = before or Placement()
    if choice == HERE:
        return None
    if choice == ONE:
        return Placement()
    processes = known.processes if known.processes > 1 else max(cards, 2)
    if choice == SEVERAL:
        return replace(known, processes=processes, machines=1)
    return replace(known, processes=processes, machines=max(known.machines, 2))


def command_text(place: Placement) -> str:
    """The command that will be run or typed; JOB stands for the folder of the run's job."""
    folder = Path("JOB")
    if place.machines > 1:
        return "\n".join(shown_commands(folder, place))
    return " ".join(["python", *local_command(folder, place)[1:]])
