"""What a task is: it draws problems for training and keeps a held-out part that training never sees."""

import random
import zlib
from dataclasses import dataclass, field
from typing import Any, Protocol

HELD_OUT_SHARE = 10  # one prompt in ten is held out

Message = tuple[str, str]  # role and content


@dataclass(frozen=True, slots=True)
class Problem:
    """One prompt with what is needed to judge an answer to it.

    `task` names the kind of problem (in a mix: the part it came from). `answer` is None when a
    data file holds none. `columns` are the other columns of a data file as JSON holds them, handed to reward
    functions. `messages` is the prompt as a chat; then `prompt` is the text that is shown for it. With
    `answer_is_last_number` a completion may reason before its answer, as in GSM8K.
    """

    task: str
    prompt: str
    answer: str | None
    columns: dict[str, Any] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    answer_is_last_number: bool = False


class Task(Protocol):
    """A source of problems."""

    @property
    def name(self) -> str:
        """The name of the task, as in the run's config."""

    def sample(self, rng: random.Random) -> Problem:
        """Draw one training problem; never a held-out one."""

    def held_out(self, count: int, seed: int = 0) -> list[Problem]:
        """Return up to `count` held-out problems with different prompts, the same ones for the same seed."""


def is_held_out(prompt: str) -> bool:
    """Tell whether a prompt belongs to the held-out part: its CRC-32 (of the UTF-8 bytes) is divisible by 10."""
    return zlib.crc32(prompt.encode("utf-8")) % HELD_OUT_SHARE == 0


def held_out_shortage(task: Task, count: int) -> str | None:
    """Return a sentence when the task has fewer than `count` held-out problems, else None."""
    available = len(task.held_out(count))
    if available >= count:
        return None
    if available == 0:
        return f"The task {task.name} has no held-out prompts, so progress on unseen prompts cannot be measured."
    return f"The task {task.name} has only {available} held-out prompts of the {count} asked for; those are used."
