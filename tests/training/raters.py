"""Raters for the tests: an in-memory log of ratings, and simulated people with documented noise."""

import random
from collections.abc import Callable, Sequence

from grpo_gui.events import Event, GroupRef, GroupSample, GroupsSampled, StepCompleted
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.queue import REPEAT_ONE_IN, Queue, is_turn_of_repeat
from grpo_gui.rating_events import RatableGroup, RatingEvent, StoredRating
from grpo_gui.training.rating_source import SampledGroup

Judgement = Callable[[GroupSample, random.Random], Sequence[float | None]]  # levels of a ranking


class MemoryRatings:
    """A RatingSource without a database: remembers the groups that a trainer's events bring."""

    def __init__(self, temperature: float = 1.0) -> None:
        self.log: list[StoredRating] = []
        self.groups: dict[GroupRef, GroupSample] = {}
        self.newest_step = 0
        self.is_closed = False
        self.told_mode: str | None = None
        self._temperature = temperature

    def take(self, event: Event) -> None:
        """Remember the groups of an event."""
        if isinstance(event, StepCompleted | GroupsSampled):
            self.newest_step = event.step
            self.groups |= {GroupRef(event.run_id, event.step, group.index): group for group in event.groups}

    def rate(self, ref: GroupRef, mode: str, values: Sequence[float | None], **fields: object) -> StoredRating:
        """Append an entry; places are shown in the order of the texts' first appearance."""
        texts = [one.text for one in self.groups[ref].completions]
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        defaults = {"rater": "mara", "shown_s": 100.0, "first_key_s": 102.0, "submitted_s": 105.0}
        event = RatingEvent(
            ref, mode=mode, values=tuple(values), positions=tuple(places[text] for text in texts), **defaults | fields
        )
        self.log.append(StoredRating(len(self.log) + 1, event, False, None, None))
        return self.log[-1]

    def entries(self, after_id: int) -> Sequence[StoredRating]:
        return self.log[after_id:]

    def group(self, ref: GroupRef) -> SampledGroup | None:
        group = self.groups.get(ref)
        if group is None:
            return None
        return SampledGroup(
            prompt_ids=group.prompt_token_ids,
            completion_ids=tuple(one.token_ids for one in group.completions),
            old_logps=tuple(one.old_logps for one in group.completions),
            truncated=tuple(one.truncated for one in group.completions),
            program=tuple(one.reward for one in group.completions),
            temperature=self._temperature,
        )

    def mode(self) -> str | None:
        return self.told_mode

    def close(self) -> None:
        self.is_closed = True


class SimulatedRater:
    """Rates a share of all groups some steps after they were sampled, as a person would: through the queue.

    The queue shows some groups again, which it rates anew, with new noise.
    """

    def __init__(
        self, ratings: MemoryRatings, judge: Judgement, *, share: float, delay_steps: int, seed: int, max_age: int = 200
    ) -> None:
        self._ratings, self._judge, self._share, self._delay = ratings, judge, share, delay_steps
        self._rng, self._max_age = random.Random(seed), max_age
        self.sampled = self.rated = 0
        self._due: list[tuple[int, GroupRef, bool, bool]] = []

    def watch(self, event: Event) -> None:
        """Look at a trainer's event; submit what is due after a step."""
        self._ratings.take(event)
        if not isinstance(event, StepCompleted):
            return
        self.sampled += len(event.groups)
        for due in [due for due in self._due if due[0] <= event.step]:
            self._due.remove(due)
            self._submit(*due[1:])
        while self.rated + len(self._due) + 1 <= self._share * self.sampled and self._take_up(event.step):
            pass

    def _take_up(self, step: int) -> bool:
        shown = {ref for _, ref, _, _ in self._due}
        in_sight = {ref for ref in self._ratings.groups if step - ref.step < 5} - shown
        in_sight |= {entry.event.group for entry in self._ratings.log[-60:]} - shown
        groups = [_ratable(ref, self._ratings.groups[ref]) for ref in sorted(in_sight, reverse=True)]
        queue = Queue(RatingLog(self._ratings.log), groups, "mara", newest_step=step, max_age=self._max_age)
        # Several groups are under way at once, so that the queue's own count of repeats would be behind.
        repeats = sum(entry.event.is_repeat for entry in self._ratings.log) + sum(again for _, _, again, _ in self._due)
        wants_repeat = is_turn_of_repeat(self.rated + len(self._due) + 1, repeats)
        shown_next = queue.upcoming(REPEAT_ONE_IN)
        found = next((one for one in shown_next if one.is_repeat == wants_repeat), None) or next(iter(shown_next), None)
        if found is not None:
            self._due.append((step + self._delay, found.ref, found.is_repeat, found.is_audit))
        return found is not None

    def _submit(self, ref: GroupRef, is_repeat: bool, is_audit: bool) -> None:
        values = self._judge(self._ratings.groups[ref], self._rng)
        self._ratings.rate(ref, "ranks", values, is_repeat=is_repeat, is_audit=is_audit)
        self.rated += 1


def _ratable(ref: GroupRef, group: GroupSample) -> RatableGroup:
    texts = tuple(one.text for one in group.completions)
    return RatableGroup(ref, group.task, group.prompt, texts, (None,) * len(texts))


def right_or_wrong(mistakes: float) -> Judgement:
    """Ranks the right answers before the wrong ones; takes each distinct text for its opposite with this chance."""

    def judge(group: GroupSample, rng: random.Random) -> Sequence[float | None]:
        looks_right = {one.text: bool(one.correct) != (rng.random() < mistakes) for one in group.completions}
        return [1.0 if looks_right[one.text] else 2.0 for one in group.completions]

    return judge


def coin_flips(group: GroupSample, rng: random.Random) -> Sequence[float | None]:
    """A level at random for each distinct text."""
    levels = {text: float(rng.randint(1, 2)) for text in sorted({one.text for one in group.completions})}
    return [levels[one.text] for one in group.completions]
