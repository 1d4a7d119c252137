"""How far rating has come, and in words what the next update will use of it."""

from dataclasses import dataclass

from grpo_gui.events import GroupRef
from grpo_gui.rating.agreement import FEWEST_REPEATS, Retest, retest
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import human_values

RATING_USES = ("wait", "async", "offline")


@dataclass(frozen=True, slots=True)
class RatingRules:
    """How a run uses ratings."""

    mode: str  # of RATING_USES
    weight: float  # of the human source
    is_alone: bool  # no other source of rewards has a weight
    shrinks: bool  # by the raters' confidence
    quorum: int  # groups of a step that must be rated before a waiting update goes on
    max_age: int  # steps until a rating is too old
    late_share: float  # the most of a batch that may be late ratings
    prompts_per_step: int
    num_generations: int

    @property
    def late_limit(self) -> int:
        """The most groups with late ratings beside the fresh ones of a step; a whole step of them when offline."""
        if self.mode == "offline":
            return self.prompts_per_step
        return int(self.prompts_per_step * self.late_share / (1 - self.late_share) + 1e-9)


@dataclass(frozen=True, slots=True)
class RatingProgress:
    """Groups by what became of their ratings. `headline` and `detail` say what the next update will use."""

    used: int
    last_used_step: int | None
    rated: int  # and not used yet
    waiting: int  # could be rated
    expired: int  # rated too late; kept as audit set
    weight: float  # of the human source, after the shrinking
    headline: str
    detail: str


def rating_progress(
    log: RatingLog, rules: RatingRules, rater: str, *, waiting: int, awaited: tuple[int, int] | None = None
) -> RatingProgress:
    """Count the groups and say what comes next.

    `waiting` is the number of groups in the queue; `awaited` the step whose update waits now, and how many of its
    groups are rated.
    """
    used, expired = _settled(log)
    teaching = {ref: values for ref, values in human_values(log).items() if values.teaches}
    open_groups = [ref for ref in teaching if ref not in used and ref not in expired]
    check = retest(log, rater)
    weight = rules.weight * (check.confidence if rules.shrinks else 1.0)
    headline, detail = _next_update(rules, len(open_groups), awaited)
    return RatingProgress(
        used=len(used),
        last_used_step=max(used.values(), default=None),
        rated=len(open_groups),
        waiting=waiting,
        expired=len(expired),
        weight=weight,
        headline=headline,
        detail=" ".join(filter(None, (detail, weight_sentence(rules, weight, check)))),
    )


def _settled(log: RatingLog) -> tuple[dict[GroupRef, int], set[GroupRef]]:
    """The groups that an update learned from, with its step, and those that expired unused."""
    used: dict[GroupRef, int] = {}
    expired: set[GroupRef] = set()
    for entry in log.standing():
        if entry.used_step is not None:
            used[entry.event.group] = max(entry.used_step, used.get(entry.event.group, 0))
        elif entry.expired_step is not None:
            expired.add(entry.event.group)
    return used, expired - used.keys()


def _next_update(rules: RatingRules, rated: int, awaited: tuple[int, int] | None) -> tuple[str, str]:
    if rules.mode == "offline":
        detail = "Ratings are kept; a run that is started or resumed in this mode learns from all of them."
        return f"None of {rated} rated {_groups(rated)}" if rated else "No ratings", detail
    if rules.mode == "wait" and awaited is not None:
        step, done = awaited
        missing = max(0, rules.quorum - done)
        headline = f"{done} of {rules.prompts_per_step} groups of step {step}"
        detail = f"The update waits until {missing} more {_groups(missing, 'is', 'are')} rated." if missing else ""
        return headline, detail or "Enough groups are rated; the update goes on."
    count = min(rated, rules.late_limit)
    if not count:
        alone = "Nothing: the model stays as it is until a group is rated."
        return ("No ratings", alone if rules.is_alone else "It learns from the program's reward alone.")
    completions = count * rules.num_generations
    share = f"At most {rules.late_share:.0%} of a batch may be late ratings." if rated > count else ""
    return f"{count} of {rated} rated {_groups(rated)}, {completions} completions", share


def _groups(count: int, one: str = "", many: str = "") -> str:
    return f"group {one}".rstrip() if count == 1 else f"groups {many}".rstrip()


def weight_sentence(rules: RatingRules, weight: float, check: Retest) -> str:
    """Say how much the ratings count, and why."""
    if not rules.shrinks:
        return f"The human weight is {rules.weight:g}; it is not shrunk."
    if check.repeats < FEWEST_REPEATS:
        return (
            f"The human weight is {weight:.2f} of {rules.weight:g} until {FEWEST_REPEATS} repeats have shown how "
            f"consistent you are ({check.repeats} so far)."
        )
    return (
        f"The human weight is {weight:.2f} of {rules.weight:g}, shrunk to your agreement with yourself of "
        f"{check.agreement or 0:.0%} (at least {check.bound:.0%})."
    )


def editing_sentence(used_step: int | None, expired_step: int | None) -> str:
    """Say what happens when a rating is edited or taken back."""
    if used_step is not None:
        return (
            f"Step {used_step} learned from this rating already, and that stays; a new one counts for the exports and "
            "the comparison with the program, and is not learned from again."
        )
    if expired_step is not None:
        return f"This rating came too late for training (step {expired_step}); a new one counts as audit set only."
    return "No update has learned from this rating yet; a new one takes its place."
