"""What the readers return about groups that could be rated."""

from dataclasses import dataclass

from grpo_gui.events import GroupRef


@dataclass(frozen=True, slots=True)
class RatableGroup:
    """A stored group as the queue of ratings needs it. `program` must stay hidden until the group is rated."""

    ref: GroupRef
    task: str
    prompt: str
    texts: tuple[str, ...]
    program: tuple[float | None, ...]  # weighted reward of all sources but the human one; None: none spoke
