"""Which group to show next, and why: the one from which the most is learned, now and then a check."""

import math
import statistics
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grpo_gui.events import GroupRef
from grpo_gui.rating.agreement import FEWEST_REPEATS, distinct_completions
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.tau import group_tau
from grpo_gui.rating.values import terms
from grpo_gui.rating_events import JUDGING_MODES, RatableGroup, StoredRating

AUDIT_ONE_IN = 10  # of all groups, and of those shown
REPEAT_ONE_IN = 20  # of those shown
FIRST_REPEATS_ONE_IN = 6  # until there are enough of them to tell a careful rater from a coin
REPEAT_AFTER = 10  # ratings that lie between a group and its repeat, at least
CHECK_REASON = "it was picked at random, as a check"


@dataclass(frozen=True, slots=True)
class Queued:
    """A group to rate. `reason` is a clause that follows "because"; it never tells a repeat from an audit."""

    ref: GroupRef
    reason: str
    is_repeat: bool
    is_audit: bool


@dataclass(frozen=True, slots=True)
class Worth:
    """What a rating of a group would teach, each part from 0 to 1; staleness counts against it."""

    spread: float
    disagreement: float
    novelty: float
    staleness: float
    program_spread: float | None  # as the program scores, for the reason

    @property
    def total(self) -> float:
        """The parts added up."""
        return self.spread + self.disagreement + self.novelty - self.staleness


def is_audited(ref: GroupRef) -> bool:
    """Whether a group belongs to the random tenth on which people and program are compared: known by its place alone.

    It is drawn by a hash, so that it neither depends on what was sampled nor on what was rated.
    """
    return zlib.crc32(f"{ref.run_id}/{ref.step}/{ref.index}".encode()) % AUDIT_ONE_IN == 0


def has_choice(texts: Iterable[str]) -> bool:
    """Whether the answers of a group differ; one whose answers are all alike is never shown."""
    return len(set(texts)) > 1


def is_turn_of_repeat(number: int, repeats: int) -> bool:
    """Whether the group shown as the `number`th, from 1, should be one rated before; `repeats` were shown until then.

    One in twenty is. The first ones come sooner, because the confidence in a rater is a guess until they are there.
    """
    return number % (FIRST_REPEATS_ONE_IN if repeats < FEWEST_REPEATS else REPEAT_ONE_IN) == 0


class Queue:
    """Orders the groups of a run for one rater.

    Args:
        log: all ratings so far.
        groups: what could be rated, newest first, and groups that were rated before, for the repeats.
        rater: whose turn it is; others' ratings of a group do not keep it from being shown.
        newest_step: of the run; ages are counted from it.
        max_age: steps after which a group cannot be learned from any more; None: no group grows too old.
        awaited_step: the step whose update waits for ratings; its groups come first.
    """

    def __init__(
        self,
        log: RatingLog,
        groups: Sequence[RatableGroup],
        rater: str,
        *,
        newest_step: int,
        max_age: int | None = None,
        awaited_step: int | None = None,
    ) -> None:
        self._groups = {group.ref: group for group in groups}
        self._entries = log.standing(rater)
        self._awaited, self._newest, self._max_age = awaited_step, newest_step, max_age
        seen = {entry.event.group for entry in self._entries}
        self.unrated = [g for g in groups if g.ref not in seen and has_choice(g.texts) and not self._is_too_old(g)]
        self._judge = _Judge(log, groups)
        self._repeats = _repeatable(self._entries, self._groups)

    def upcoming(self, count: int) -> list[Queued]:
        """The next groups in the order in which they should be shown; fewer when there are fewer."""
        audits = [group for group in self.unrated if self._is_for_audit(group.ref)]  # the newest first
        ranked = sorted((g for g in self.unrated if not self._is_for_audit(g.ref)), key=self._rank)
        repeats = list(self._repeats)
        shown_again = sum(entry.event.is_repeat for entry in self._entries)
        found: list[Queued] = []
        while len(found) < count:
            number = len(self._entries) + len(found) + 1
            if repeats and is_turn_of_repeat(number, shown_again):
                shown_again += 1
                chosen = repeats.pop(zlib.crc32(f"repeat {number}".encode()) % len(repeats))
                found.append(Queued(chosen, CHECK_REASON, is_repeat=True, is_audit=is_audited(chosen)))
            elif audits and (number % AUDIT_ONE_IN == 0 or not ranked):
                found.append(Queued(audits.pop(0).ref, CHECK_REASON, is_repeat=False, is_audit=True))
            elif ranked:
                group = ranked.pop(0)
                reason, is_audit = self._reason(group), is_audited(group.ref)
                found.append(Queued(group.ref, reason, is_repeat=False, is_audit=is_audit))
            else:
                break
        return found

    def worth(self, group: RatableGroup) -> Worth:
        """What a rating of the group would teach."""
        age = max(0, self._newest - group.ref.step)
        staleness = 0.0 if self._max_age is None else min(1.0, age / max(1, self._max_age))
        return self._judge.worth(group, staleness)

    def _is_too_old(self, group: RatableGroup) -> bool:
        """The audit sample never is."""
        too_old = self._max_age is not None and self._newest - group.ref.step > self._max_age
        return too_old and not is_audited(group.ref)

    def _is_for_audit(self, ref: GroupRef) -> bool:
        """One for which an update waits comes first all the same, and is marked as what it is."""
        return is_audited(ref) and ref.step != self._awaited

    def _rank(self, group: RatableGroup) -> tuple[bool, float, GroupRef]:
        return group.ref.step != self._awaited, -self.worth(group).total, group.ref

    def _reason(self, group: RatableGroup) -> str:
        if group.ref.step == self._awaited:
            return f"the update of step {group.ref.step} waits for it"
        worth = self.worth(group)
        if worth.disagreement > 0.25 and worth.disagreement >= worth.spread:
            return "you and the program preferred different answers to such prompts before"
        if worth.novelty >= worth.spread and worth.novelty > 0.5:
            return (
                "none of its answers was rated yet" if worth.novelty == 1 else "most of its answers were not rated yet"
            )
        if worth.program_spread is not None and worth.program_spread > 0:
            return f"the program scores its answers differently (spread {worth.program_spread:.2f})"
        return "its answers differ"


class _Judge:
    """What the log says about groups like another one."""

    def __init__(self, log: RatingLog, groups: Sequence[RatableGroup]) -> None:
        self._widest = max((spread for g in groups if (spread := _program_spread(g)) is not None), default=0.0)
        by_ref = {group.ref: group for group in groups}
        self._rated_texts: set[tuple[str, str]] = set()
        by_prompt: dict[str, list[float]] = {}
        by_task: dict[str, list[float]] = {}
        for ref, entries in log.counting().items():
            group = by_ref.get(ref)
            if group is None:
                continue
            self._rated_texts.update((group.prompt, text) for text in group.texts)
            entry = next(iter(entries.values()))
            tau = group_tau(terms(entry.event), group.program, distinct_completions(entry))
            if tau is not None:
                by_prompt.setdefault(group.prompt, []).append((1 - tau) / 2)
                by_task.setdefault(group.task, []).append((1 - tau) / 2)
        self._by_prompt = {name: statistics.fmean(values) for name, values in by_prompt.items()}
        self._by_task = {name: statistics.fmean(values) for name, values in by_task.items()}

    def worth(self, group: RatableGroup, staleness: float) -> Worth:
        spread = _program_spread(group)
        variety = _variety(group.texts)
        relative = spread / self._widest if spread is not None and self._widest > 0 else None
        fresh = [(group.prompt, text) not in self._rated_texts for text in set(group.texts)]
        return Worth(
            spread=variety if relative is None else (variety + relative) / 2,
            disagreement=self._by_prompt.get(group.prompt, self._by_task.get(group.task, 0.0)),
            novelty=sum(fresh) / len(fresh),
            staleness=staleness,
            program_spread=spread,
        )


def _program_spread(group: RatableGroup) -> float | None:
    known = [value for value in group.program if value is not None and math.isfinite(value)]
    return statistics.stdev(known) if len(known) > 1 else None


def _variety(texts: Iterable[str]) -> float:
    """The chance that two completions of the group, drawn at random, differ."""
    counts = Counter(texts)
    total = counts.total()
    return 1 - sum(count * (count - 1) for count in counts.values()) / max(1, total * (total - 1))


def _repeatable(entries: Sequence[StoredRating], groups: dict[GroupRef, RatableGroup]) -> list[GroupRef]:
    """Groups that were judged some ratings ago and not repeated yet."""
    repeated = {entry.event.group for entry in entries if entry.event.is_repeat}
    old = entries[: max(0, len(entries) - REPEAT_AFTER)]
    refs = [e.event.group for e in old if e.event.mode in JUDGING_MODES and not e.event.is_repeat]
    return [ref for ref in dict.fromkeys(refs) if ref not in repeated and ref in groups]
