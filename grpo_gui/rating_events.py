"""What a person said about groups of completions: the entries of an append-only log, from which rewards are made."""

from dataclasses import dataclass

from grpo_gui.events import GroupRef

# ranks: 1 is the best level, equal levels are ties. labels: 1 good, 0 bad. flag: the group is put aside, its tags say
# why. A skip says nothing. undone takes back the entry `undoes`.
RATING_MODES = ("scores", "ranks", "pairs", "labels", "all_good", "all_bad", "skip", "flag", "undone")
# Those that say which is better.
JUDGING_MODES = frozenset({"scores", "ranks", "pairs", "labels", "all_good", "all_bad"})

LOWEST_SCORE, HIGHEST_SCORE = 1, 5

PairResult = tuple[int, int, float]  # two completions, and 1, .5 or 0: what the first one won


@dataclass(frozen=True, slots=True)
class RatingEvent:
    """One submitted rating of a group, or the taking back of one. Times are seconds since the epoch.

    `values` and `positions` have an entry a completion of the group, in order of index. Equal completions were
    shown and rated once, so they share value and position. A value is a score from 1 to 5, a level of a ranking
    from 1, a label (1 good, 0 bad), or None: not rated. `pairs` compares one representative of each distinct
    completion.
    """

    group: GroupRef
    rater: str
    mode: str  # of RATING_MODES
    values: tuple[float | None, ...]
    positions: tuple[int, ...]  # the place where each was shown, from 0
    shown_s: float
    first_key_s: float | None
    submitted_s: float
    pairs: tuple[PairResult, ...] = ()
    tags: tuple[tuple[int, str], ...] = ()  # (completion, reason it was flagged)
    note: str = ""
    reason: str = ""  # why the group was shown, as it was told
    is_repeat: bool = False  # shown again to compare the rater with themselves
    is_audit: bool = False  # of the random sample on which people and program are compared
    undoes: int | None = None  # the id of the entry that is taken back; such an entry has no values and positions


@dataclass(frozen=True, slots=True)
class StoredRating:
    """An entry of the log with what became of it."""

    id: int
    event: RatingEvent
    is_undone: bool  # a later entry takes it back
    used_step: int | None  # the step whose update learned from it
    expired_step: int | None  # the step at which it was too old, or its group too unlikely, to learn from


@dataclass(frozen=True, slots=True)
class RatableGroup:
    """A stored group as the queue of ratings needs it. `program` must stay hidden until the group is rated."""

    ref: GroupRef
    task: str
    prompt: str
    texts: tuple[str, ...]
    program: tuple[float | None, ...]  # weighted reward of all sources but the human one; None: none spoke
