"""The log of ratings as it counts now: without what was taken back, and the newest of each rater."""

from collections.abc import Iterable

from grpo_gui.events import GroupRef
from grpo_gui.rating_events import JUDGING_MODES, StoredRating


class RatingLog:
    """Takes entries in any order and answers which of them count."""

    def __init__(self, entries: Iterable[StoredRating] = ()) -> None:
        self._entries: dict[int, StoredRating] = {}
        self._undone: set[int] = set()
        self.add(entries)

    def add(self, entries: Iterable[StoredRating]) -> None:
        """Take more entries; one that is there already is replaced."""
        for entry in entries:
            self._entries[entry.id] = entry
            if entry.event.undoes is not None:
                self._undone.add(entry.event.undoes)

    def until(self, newest_id: int) -> "RatingLog":
        """Return the log as it was when `newest_id` was its newest entry."""
        return RatingLog(entry for entry in self._entries.values() if entry.id <= newest_id)

    @property
    def newest_id(self) -> int:
        """The highest id of all entries, 0 without any."""
        return max(self._entries, default=0)

    def standing(self, rater: str | None = None) -> list[StoredRating]:
        """The entries that were not taken back, oldest first; of all raters, or of one."""
        return [
            entry
            for _, entry in sorted(self._entries.items())
            if entry.id not in self._undone
            and entry.event.undoes is None
            and (rater is None or entry.event.rater == rater)
        ]

    def raters(self) -> tuple[str, ...]:
        """Everybody with a standing entry, by name."""
        return tuple(sorted({entry.event.rater for entry in self.standing()}))

    def counting(self) -> dict[GroupRef, dict[str, StoredRating]]:
        """By group and rater the entry that counts: the newest one, skips aside. A flag takes the group out."""
        found: dict[GroupRef, dict[str, StoredRating]] = {}
        for entry in self.standing():
            if entry.event.mode in JUDGING_MODES or entry.event.mode == "flag":
                found.setdefault(entry.event.group, {})[entry.event.rater] = entry
        return {
            ref: judging
            for ref, by_rater in found.items()
            if (judging := {who: entry for who, entry in by_rater.items() if entry.event.mode in JUDGING_MODES})
        }
