"""The next groups to rate, ready to be shown: read and laid out beside the GUI thread."""

import random
from collections.abc import Collection
from dataclasses import dataclass, field

from grpo_gui.events import GroupRef
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.queue import Queue
from grpo_gui.rating_events import RatableGroup, RatingEvent
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRecord
from grpo_gui.ui.models.rating_slots import Layout, laid_out, shuffled

FIRST_GROUPS = 800  # of a run, about the newest so many are looked through at first
_FEWEST_STEPS = 10

Key = tuple[GroupRef, bool]


@dataclass(frozen=True, slots=True)
class Ready:
    """A group with its order on screen, and why it is shown, as it is told."""

    group: GroupRecord
    reason: str
    is_repeat: bool
    is_audit: bool
    layout: Layout
    program: tuple[float | None, ...]  # what the program gave each completion; hidden until it is rated

    @property
    def key(self) -> Key:
        """What tells it from others: a repeat is another showing of the same group."""
        return self.group.ref, self.is_repeat


@dataclass(slots=True)
class RatingLibrary:
    """The log and the groups of one run as far as they were read; each reading goes on where the last one ended.

    Of the groups the newest are known, as many as a person can look through; older ones once those are rated. Used by
    one background task at a time.
    """

    run_id: int
    log: RatingLog = field(default_factory=RatingLog)
    groups: dict[GroupRef, RatableGroup] = field(default_factory=dict)
    newest_step: int = 0
    _steps: int = 0  # looked through, from the newest on; 0: not known yet
    _newest_rating: int = -1

    def read_on(self, reader: StoreReader) -> bool:
        """Read what came since; False when nothing did."""
        newest, rating = reader.newest_step(self.run_id) or 0, reader.newest_rating()
        if newest < self.newest_step:  # resumed from an earlier step: what came after was replaced
            self.groups = {ref: group for ref, group in self.groups.items() if ref.step <= newest}
        if newest and not self._steps:
            self._steps = max(
                _FEWEST_STEPS, FIRST_GROUPS // max(1, len(reader.ratable_groups(self.run_id, newest - 1)))
            )
        # Beyond the newest complete step lie the groups of an update that waits for ratings.
        read = max((ref.step for ref in self.groups), default=0)
        found = reader.ratable_groups(self.run_id, max(read, newest - self._steps))
        if not found and (newest, rating) == (self.newest_step, self._newest_rating):
            return False
        self.groups |= {group.ref: group for group in found}
        self.newest_step, self._newest_rating = newest, rating
        self.log = RatingLog(reader.group_ratings(self.run_id))  # what became of older entries may have changed too
        self._complete(reader)
        return True

    def reach_back(self, reader: StoreReader) -> bool:
        """Look through older groups too; False when there are none."""
        if not self._steps or self._steps >= self.newest_step:
            return False
        self._steps *= 4
        found = reader.ratable_groups(self.run_id, max(0, self.newest_step - self._steps))
        self.groups |= {group.ref: group for group in found}
        return True

    def _complete(self, reader: StoreReader) -> None:
        """Know every group that was rated, and forget others that are older than those looked through."""
        rated = {entry.event.group for entry in self.log.standing()}
        for ref in rated - self.groups.keys():
            group = reader.group(ref)
            if group is not None:
                self.groups[ref] = _ratable(group)
        oldest = self.newest_step - self._steps
        for ref in [ref for ref in self.groups if ref.step <= oldest and ref not in rated]:
            del self.groups[ref]

    def queue(self, rater: str, max_age: int | None, awaited_step: int | None) -> Queue:
        """The queue of a rater as it stands."""
        groups = sorted(self.groups.values(), key=lambda group: (-group.ref.step, group.ref.index))
        return Queue(self.log, groups, rater, newest_step=self.newest_step, max_age=max_age, awaited_step=awaited_step)


def ready_groups(
    reader: StoreReader, library: RatingLibrary, queue: Queue, known: Collection[Key], count: int
) -> list[Ready]:
    """The next groups of the queue that are not known yet, laid out in a new order each."""
    found = [queued for queued in queue.upcoming(len(known) + count) if (queued.ref, queued.is_repeat) not in known]
    ready = []
    for queued in found[:count]:
        group = reader.group(queued.ref)
        if group is not None:
            layout = shuffled(group.completions, random.Random())
            program = library.groups[queued.ref].program
            reason = f"Shown because {queued.reason}"
            ready.append(Ready(group, reason, queued.is_repeat, queued.is_audit, layout, program))
    return ready


def ready_again(reader: StoreReader, library: RatingLibrary, event: RatingEvent) -> Ready | None:
    """A group that was rated, in the order in which it was shown; None when it is not there any more."""
    group = reader.group(event.group)
    if group is None:
        return None
    known = library.groups.get(event.group) or _ratable(group)
    layout = laid_out(group.completions, event.positions)
    return Ready(group, event.reason, event.is_repeat, event.is_audit, layout, known.program)


def _ratable(group: GroupRecord) -> RatableGroup:
    # The weighted sum over the sources that spoke, without the human one, whose weight is not in its values.
    program = tuple(
        sum(values) if (values := [v for name, v in one.rewards if v is not None and name != "human"]) else None
        for one in group.completions
    )
    return RatableGroup(group.ref, group.task, group.prompt, tuple(one.text for one in group.completions), program)
