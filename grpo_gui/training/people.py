"""Brings ratings of people into the steps of a run: which groups a step learns from, which are too old."""

import logging
import zlib
from collections.abc import Sequence
from typing import Any

from grpo_gui.errors import StoreError
from grpo_gui.events import GroupRef
from grpo_gui.language.policy import Policy
from grpo_gui.rating.agreement import confidences, distinct_completions, repeat_agreements
from grpo_gui.rating.files import IMPORTED
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.progress import RatingRules
from grpo_gui.rating.quality import answer_by_place, picked_slot
from grpo_gui.rating.tau import group_tau
from grpo_gui.rating.values import HumanValues, human_values, terms
from grpo_gui.rating_events import JUDGING_MODES, StoredRating
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.human_term import HumanTerm, LateGroup, RatedGroup
from grpo_gui.training.late import effective_size
from grpo_gui.training.rating_source import RatingSource, SampledGroup

logger = logging.getLogger(__name__)


class People:
    """The ratings of a run as its trainer sees them. A group is learned from once, except offline."""

    def __init__(self, source: RatingSource, run_id: int) -> None:
        self.source = source
        self._run_id = run_id
        self._log = RatingLog()
        self._settled: dict[GroupRef, tuple[str, int]] = {}  # outcome and step
        self._first_id: int | None = None  # the newest entry when this trainer started: all that offline training sees
        self._told_id = 0  # the newest entry that was in the metrics
        self._values: tuple[int, dict[GroupRef, HumanValues]] = (-1, {})  # of the log up to an entry
        self._trust: tuple[int, dict[str, float]] = (-1, {})  # likewise

    def refresh(self) -> None:
        """Read what was rated since the last call; a database that cannot be read now is asked again later."""
        try:
            self._log.add(self.source.entries(self._log.newest_id))
        except StoreError as error:
            logger.warning("Ratings wait: %s", error)
            return
        if self._first_id is None:
            self._first_id = self._log.newest_id

    def answered_in_step(self, step: int) -> tuple[set[int], set[int]]:
        """The groups of the step at hand that were judged or put aside by a flag, and those that were skipped."""
        modes = {e.event.group: e.event.mode for e in self._log.standing()}
        mine = {ref.index: mode for ref, mode in modes.items() if ref.run_id == self._run_id and ref.step == step}
        skipped = {index for index, mode in mine.items() if mode == "skip"}
        return mine.keys() - skipped, skipped

    def term_of_step(self, step: int, rules: RatingRules, policy: Policy, config: TrainConfig) -> HumanTerm:
        """Return what the update of `step` learns from people."""
        log = self._usable_log(rules)
        said, trust = self._values_of(log), self._confidences_of(log) if rules.shrinks else {}
        rated = {ref: _rated(ref, values, trust) for ref, values in said.items()}
        fresh = [group for ref, group in rated.items() if ref.run_id == self._run_id and ref.step == step]
        teaching = [ref for ref, values in said.items() if values.teaches]
        waiting = sorted(ref for ref in teaching if self._is_open(ref, rules) and ref.step < step)
        expired = [ref for ref in waiting if self._is_too_old(ref, step, rules)]
        late: list[LateGroup] = []
        for ref in self._in_turn([ref for ref in waiting if ref not in expired], step, rules):
            if len(late) == rules.late_limit:
                break
            try:
                sampled = self.source.group(ref)
            except StoreError as error:
                logger.warning("Late ratings wait: %s", error)
                break
            if sampled is None or effective_size(policy, sampled, config) < sampled.size / 2:
                expired.append(ref)
            else:
                late.append(LateGroup(rated[ref], sampled))
        return HumanTerm(tuple(sorted(fresh, key=_place)), tuple(late), tuple(rated[ref] for ref in expired))

    def settle(self, step: int, term: HumanTerm) -> None:
        """Note that a step is complete."""
        for use in term.uses():
            self._settled[use.group] = (use.outcome, step)

    def metrics(self, step: int) -> dict[str, float]:
        """Counts after a step, and of the newest ratings since the last call what the diagnosis looks at."""
        outcomes = [outcome for outcome, _ in self._settled.values()]
        teaching = [ref for ref, values in self._values_of(self._log).items() if values.teaches]
        metrics = {
            "ratings/waiting": float(sum(ref not in self._settled and ref.step <= step for ref in teaching)),
            "ratings/expired": float(outcomes.count("expired")),
        }
        new = [entry for entry in self._log.standing() if entry.id > self._told_id]
        self._told_id = self._log.newest_id
        judged = [e for e in new if e.event.mode in JUDGING_MODES and e.event.reason != IMPORTED]
        if judged:
            metrics |= self._of_rater(judged) | self._tau(judged)
        return metrics

    def values(self) -> dict[str, Any]:
        """What a saved state keeps, as JSON."""
        return {
            "settled": [
                [[ref.run_id, ref.step, ref.index], outcome, step] for ref, (outcome, step) in self._settled.items()
            ],
            "told": self._told_id,
        }

    def restore(self, values: dict[str, Any]) -> None:
        """The inverse of `values`."""
        self._settled = {GroupRef(*ref): (outcome, step) for ref, outcome, step in values.get("settled", ())}
        self._told_id = values.get("told", 0)

    def _usable_log(self, rules: RatingRules) -> RatingLog:
        """All ratings; offline those that were there when the trainer started."""
        if rules.mode != "offline" or self._first_id is None:
            return self._log
        return self._log.until(self._first_id)

    def _values_of(self, log: RatingLog) -> dict[GroupRef, HumanValues]:
        """The human values, worked out again only when something was added."""
        newest, values = self._values
        if newest != log.newest_id:
            values = human_values(log)
            self._values = log.newest_id, values
        return values

    def _confidences_of(self, log: RatingLog) -> dict[str, float]:
        """How far each rater is trusted, worked out again only when something was added."""
        newest, trust = self._trust
        if newest != log.newest_id:
            trust = confidences(log)
            self._trust = log.newest_id, trust
        return trust

    def _is_open(self, ref: GroupRef, rules: RatingRules) -> bool:
        outcome, _ = self._settled.get(ref, ("", 0))
        return not outcome or (outcome == "used" and rules.mode == "offline")

    def _is_too_old(self, ref: GroupRef, step: int, rules: RatingRules) -> bool:
        return rules.mode != "offline" and step - ref.step > rules.max_age

    def _in_turn(self, refs: list[GroupRef], step: int, rules: RatingRules) -> list[GroupRef]:
        """The oldest first, because they expire first; offline each in its turn, again and again."""
        if rules.mode != "offline" or not refs:
            return refs
        start = (step * rules.late_limit) % len(refs)
        return refs[start:] + refs[:start]

    def _of_rater(self, judged: Sequence[StoredRating]) -> dict[str, float]:
        """Of the newest rating: how it was given. One a step is enough for the detectors."""
        newest = judged[-1]
        event = newest.event
        metrics: dict[str, float] = {}
        if event.first_key_s is not None:
            metrics["ratings/seconds"] = event.first_key_s - event.shown_s
        answer = answer_by_place(event)
        if answer is not None:
            metrics["ratings/key"] = float(zlib.crc32(repr(answer).encode()) % 1_000_003)
        picked = picked_slot(event)
        if picked is not None:
            metrics["ratings/slot"], metrics["ratings/slots"] = map(float, picked)
        shares = {entry.id: share for entry, share in repeat_agreements(self._log, event.rater)}
        retested = [shares[entry.id] for entry in judged if entry.id in shares]
        if retested:
            metrics["ratings/retest"] = sum(retested) / len(retested)
        return metrics

    def _audited(self, entry: StoredRating) -> SampledGroup | None:
        try:
            return self.source.group(entry.event.group) if entry.event.is_audit else None
        except StoreError:  # one point of a curve is missing
            return None

    def _tau(self, judged: Sequence[StoredRating]) -> dict[str, float]:
        """Agreement of people and program on the audited groups among the new ratings."""
        found = []
        for entry in judged:
            sampled = self._audited(entry)
            if sampled is not None:
                found.append(group_tau(terms(entry.event), sampled.program, distinct_completions(entry)))
        taus = [tau for tau in found if tau is not None]
        return {"ratings/audit_tau": sum(taus) / len(taus)} if taus else {}


def _rated(ref: GroupRef, values: HumanValues, trust: dict[str, float]) -> RatedGroup:
    of_raters = [trust.get(rater, 1.0) for rater in values.raters]
    return RatedGroup(ref, values.values, sum(of_raters) / len(of_raters), values.rating_ids)


def _place(group: RatedGroup) -> GroupRef:
    return group.ref
