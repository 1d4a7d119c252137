"""Carries ratings between a database and files: what the command line and the window share."""

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from grpo_gui.errors import BadInputError
from grpo_gui.events import GroupRef
from grpo_gui.rating import files
from grpo_gui.rating.files import EVENTS, LABELS, PAIRS, GroupTexts, Line
from grpo_gui.rating.log import RatingLog
from grpo_gui.rating.values import terms
from grpo_gui.rating_events import RatingEvent, StoredRating
from grpo_gui.store.reader import StoreReader

_MOST_BYTES = 1 << 30
_WORDS = {
    EVENTS: ("entry", "entries"),
    PAIRS: ("group with preference pairs", "groups with preference pairs"),
    LABELS: ("group with labels", "groups with labels"),
}


class RatingSink(Protocol):
    """What an import asks of the store's writer."""

    def rate_group(self, rating: RatingEvent) -> int:
        """Append an entry to the log; return its id."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import: entries taken over, those that were there already, and lines without a group here."""

    kind: str
    taken: int
    known: int
    without_group: int

    @property
    def sentence(self) -> str:
        """All of it for a person."""
        one, many = _WORDS[self.kind]
        parts = [f"{self.taken} {one} was taken over" if self.taken == 1 else f"{self.taken} {many} were taken over"]
        if self.known:
            parts.append(f"{self.known} {'was' if self.known == 1 else 'were'} there already")
        if self.without_group:
            lines = "1 line speaks" if self.without_group == 1 else f"{self.without_group} lines speak"
            parts.append(f"{lines} of groups that this run does not have")
        return "; ".join(parts) + "."


def export_ratings(reader: StoreReader, run_id: int, kind: str, target: Path) -> int:
    """Write the ratings of a run to a file in one of the formats; return the number of lines.

    Raises:
        BadInputError: there is nothing to write, or the file cannot be written; an older file stays as it was.
    """
    ratings = reader.group_ratings(run_id)
    groups = _group_texts(reader, ratings)
    lines = list(_lines(kind, ratings, groups))
    if not lines:
        raise BadInputError(f"Run {run_id} has no ratings to export as {kind}; rate some groups first.")
    _write(target, files.to_jsonl(lines))
    return len(lines)


def import_ratings(reader: StoreReader, sink: RatingSink, run_id: int, source: Path, rater: str) -> Imported:
    """Take over the ratings of a file for the groups of a run; what is there already is left out.

    `rater` is noted for preference pairs and labels, which do not say who gave them.

    Raises:
        BadInputError: the file cannot be read or holds no ratings; nothing was taken over.
    """
    kind, lines = files.read_lines(_read(source), source.name)
    groups = {g.ref: GroupTexts(g.prompt, g.texts) for g in reader.ratable_groups(run_id)}
    stored = reader.group_ratings(run_id)
    if kind == EVENTS:
        return _import_events(files.read_events(lines, groups, source.name), stored, sink)
    read = files.read_pairs if kind == PAIRS else files.read_labels
    events, without_group = read(lines, groups, rater, time.time(), source.name)
    counting = RatingLog(stored).counting()
    new = [event for event in events if not _says_it_already(event, counting)]
    for event in new:
        sink.rate_group(event)
    return Imported(kind, len(new), len(events) - len(new), without_group)


def _import_events(
    entries: list[files.ReadRating | None], stored: tuple[StoredRating, ...], sink: RatingSink
) -> Imported:
    known = {(entry.event.group, entry.event.rater, entry.event.submitted_s): entry.id for entry in stored}
    ids: dict[int, int] = {}  # of the file -> here
    taken = present = missing = 0
    for entry in entries:
        if entry is None:
            missing += 1
            continue
        event = entry.event
        place = (event.group, event.rater, event.submitted_s)
        if place in known:
            ids[entry.file_id] = known[place]
            present += 1
            continue
        if event.undoes is not None:
            if event.undoes not in ids:  # what it takes back has no group here
                missing += 1
                continue
            event = replace(event, undoes=ids[event.undoes])
        ids[entry.file_id] = sink.rate_group(event)
        taken += 1
    return Imported(EVENTS, taken, present, missing)


def _says_it_already(event: RatingEvent, counting: dict[GroupRef, dict[str, StoredRating]]) -> bool:
    entry = counting.get(event.group, {}).get(event.rater)
    return entry is not None and files.is_same(entry.event, event)


def _lines(kind: str, ratings: tuple[StoredRating, ...], groups: files.Groups) -> Iterator[Line]:
    if kind == EVENTS:
        return files.event_lines(ratings, groups)
    counting = [entry for by_rater in RatingLog(ratings).counting().values() for entry in by_rater.values()]
    return files.pair_lines(counting, groups) if kind == PAIRS else files.label_lines(counting, groups, terms)


def _group_texts(reader: StoreReader, ratings: Iterable[StoredRating]) -> dict[GroupRef, GroupTexts]:
    found = {}
    for ref in dict.fromkeys(rating.event.group for rating in ratings):
        group = reader.group(ref)
        if group is not None:
            found[ref] = GroupTexts(group.prompt, tuple(completion.text for completion in group.completions))
    return found


def _read(source: Path) -> bytes:
    try:
        if source.stat().st_size > _MOST_BYTES:
            raise BadInputError(f"{source} is larger than 1 GB, which no file of ratings is; check the name.")
        return source.read_bytes()
    except OSError as error:
        raise BadInputError(f"{source} cannot be read ({error.strerror}); check the name.") from error


def _write(target: Path, lines: Iterable[bytes]) -> None:
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(lines)
            os.replace(name, target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadInputError(f"{target} cannot be written ({error.strerror}); choose another place.") from error
