"""The groups of one step, from a live event or from the store, and what can be said about them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from grpo_gui.events import CompletionSample, GroupSample, StepCompleted
from grpo_gui.store.records import GroupRecord, GroupRef


@dataclass(frozen=True, slots=True)
class ShownStep:
    """All groups of a step, in order of the prompts."""

    run_id: int
    step: int
    groups: tuple[GroupSample, ...]

    @property
    def completions(self) -> tuple[CompletionSample, ...]:
        """The completions of all groups."""
        return tuple(completion for group in self.groups for completion in group.completions)

    def ref(self, place: int) -> GroupRef:
        """The address of the group at `place`."""
        return GroupRef(self.run_id, self.step, self.groups[place].index)

    def most_telling(self) -> int:
        """The place of the group with the widest spread of advantages, the first of equals."""
        return max(range(len(self.groups)), key=lambda place: (_spread(self.groups[place]), -place))


def of_event(event: StepCompleted) -> ShownStep:
    """The groups of a live step."""
    return ShownStep(event.run_id, event.step, event.groups)


def of_records(run_id: int, step: int, records: Iterable[GroupRecord]) -> ShownStep:
    """The groups of a stored step."""
    return ShownStep(run_id, step, tuple(_sample(record) for record in records))


def right_count(completions: Iterable[CompletionSample]) -> int | None:
    """How many are right; None when no prompt has an answer to compare with."""
    verdicts = [completion.correct for completion in completions if completion.correct is not None]
    return sum(verdicts) if verdicts else None


def distinct_count(group: GroupSample) -> int:
    """How many different texts the group has."""
    return len({completion.text for completion in group.completions})


def has_signal(group: GroupSample) -> bool:
    """True when at least one advantage is not 0, so that the group teaches something."""
    return any(completion.advantage and not math.isnan(completion.advantage) for completion in group.completions)


def _spread(group: GroupSample) -> float:
    advantages = [completion.advantage for completion in group.completions if not math.isnan(completion.advantage)]
    return max(advantages) - min(advantages) if advantages else 0.0


def _sample(record: GroupRecord) -> GroupSample:
    return GroupSample(
        record.ref.index, record.task, record.prompt, record.answer, record.prompt_token_ids, record.completions
    )


def reward_bounds(step: ShownStep) -> tuple[float, float]:
    """The ends of the reward bars of a step: 0 to 1, wider where rewards go beyond."""
    rewards = [c.reward for c in step.completions if c.reward is not None and math.isfinite(c.reward)]
    return min([0.0, *rewards]), max([1.0, *rewards])
