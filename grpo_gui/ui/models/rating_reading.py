"""One look at the store for the Rate view: the next groups and the right column, made beside the GUI thread."""

from collections.abc import Collection
from dataclasses import dataclass

from grpo_gui.rating.progress import RatingRules
from grpo_gui.rating_events import StoredRating
from grpo_gui.store.reader import StoreReader
from grpo_gui.ui.models.rating_queue import Key, RatingLibrary, Ready, ready_groups
from grpo_gui.ui.models.rating_side import RatingPicture, rating_picture


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for. `known` are groups that are at hand or rated here already."""

    library: RatingLibrary
    rater: str
    rules: RatingRules
    known: Collection[Key]
    count: int
    must_look: bool  # also when nothing came since
    max_age: int | None  # steps after which a group is not shown any more
    awaited_step: int | None  # the step whose update waits for ratings


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found. `given` are the rater's entries that can be taken back, oldest first."""

    library: RatingLibrary
    ready: tuple[Ready, ...]
    picture: RatingPicture
    given: tuple[StoredRating, ...]


def look(reader: StoreReader, wanted: Wanted) -> Looked | None:
    """Read on, order the queue and count; None when nothing came since."""
    library, rules = wanted.library, wanted.rules
    if not library.read_on(reader) and not wanted.must_look:
        return None
    queue = library.queue(wanted.rater, wanted.max_age, wanted.awaited_step)
    while len(queue.unrated) < wanted.count + len(wanted.known) and library.reach_back(reader):
        queue = library.queue(wanted.rater, wanted.max_age, wanted.awaited_step)
    awaited = None if wanted.awaited_step is None else (wanted.awaited_step, _rated(library, wanted.awaited_step))
    ready = ready_groups(reader, library, queue, wanted.known, wanted.count) if wanted.count > 0 else []
    picture = rating_picture(library, queue, rules, wanted.rater, awaited)
    return Looked(library, tuple(ready), picture, tuple(library.log.standing(wanted.rater)))


def _rated(library: RatingLibrary, step: int) -> int:
    """How many groups of a step have a rating that counts."""
    return sum(ref.step == step and ref.run_id == library.run_id for ref in library.log.counting())
