"""Which samples show a finding: places in the run that a view can open."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from grpo_gui.diagnose.sampled import SampledCompletion, SampledGroup

MOST = 5  # samples a finding carries


class SampleRef(NamedTuple):
    """The place of a group, or of one completion in it."""

    step: int
    group: int
    completion: int | None = None


class StepGroups(NamedTuple):
    """The groups of one step."""

    step: int
    groups: Sequence[SampledGroup]


def groups_where(
    steps: Sequence[StepGroups], wanted: Callable[[Sequence[SampledCompletion]], bool]
) -> tuple[SampleRef, ...]:
    """The newest groups whose completions are as wanted."""
    found = (
        SampleRef(step, group.index)
        for step, groups in reversed(steps)
        for group in groups
        if wanted(group.completions)
    )
    return _first(found)


def completions_where(
    steps: Sequence[StepGroups], wanted: Callable[[SampledCompletion], bool]
) -> tuple[SampleRef, ...]:
    """The newest completions that are as wanted, at most one a group."""

    def found() -> Iterator[SampleRef]:
        for step, groups in reversed(steps):
            for group in groups:
                place = next((place for place, one in enumerate(group.completions) if wanted(one)), None)
                if place is not None:
                    yield SampleRef(step, group.index, place)

    return _first(found())


def completions_by(
    steps: Sequence[StepGroups], key: Callable[[SampledCompletion], float | None]
) -> tuple[SampleRef, ...]:
    """The completions with the largest key in the newest steps; None leaves one out."""
    ranked = []
    for step, groups in steps:
        for group in groups:
            for place, completion in enumerate(group.completions):
                value = key(completion)
                if value is not None:
                    ranked.append((value, SampleRef(step, group.index, place)))
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(ref for _, ref in ranked[:MOST])


def is_dead(completions: Sequence[SampledCompletion]) -> bool:
    """Whether all rewards of a group are equal."""
    return len({one.reward for one in completions}) <= 1


def _first(found: Iterator[SampleRef]) -> tuple[SampleRef, ...]:
    return tuple(ref for _, ref in zip(range(MOST), found, strict=False))
