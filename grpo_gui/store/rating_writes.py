"""Appends ratings, and what updates did with them. Runs in the writer's thread and transaction."""

import sqlite3

from grpo_gui.errors import StoreError
from grpo_gui.events import GroupRef, RatingModeSet, RatingsSettled
from grpo_gui.rating_events import RATING_MODES, RatingEvent
from grpo_gui.store.encoding import encode_optional_text, encode_text


def rate_group(connection: sqlite3.Connection, rating: RatingEvent) -> int:
    """Append an entry; return its id.

    Raises:
        StoreError: the group was replaced or never stored, the entry does not fit it, or what it takes back is not
            there.
    """
    group_id, size = _group(connection, rating.group)
    if rating.mode not in RATING_MODES:
        raise StoreError(f"A rating's mode is one of {', '.join(RATING_MODES)}; it is {rating.mode!r}.")
    expected = 0 if rating.mode == "undone" else size
    if len(rating.values) != expected or len(rating.positions) != expected:
        raise StoreError(f"The group has {size} completions, but the rating speaks of {len(rating.values)}.")
    if (rating.undoes is None) == (rating.mode == "undone"):
        raise StoreError("Only a rating of the mode 'undone' takes another one back, and it names that one.")
    cursor = connection.execute(
        "INSERT INTO ratings (group_id, rater, mode, shown_s, first_key_s, submitted_s, note, reason, is_repeat, "
        "is_audit, undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            group_id,
            encode_text(rating.rater),
            rating.mode,
            rating.shown_s,
            rating.first_key_s,
            rating.submitted_s,
            encode_text(rating.note),
            encode_text(rating.reason),
            rating.is_repeat,
            rating.is_audit,
            rating.undoes,
        ),
    )
    rating_id = int(cursor.lastrowid or 0)
    _add_values(connection, rating_id, rating)
    return rating_id


def _add_values(connection: sqlite3.Connection, rating_id: int, rating: RatingEvent) -> None:
    tags = dict(rating.tags)
    connection.executemany(
        "INSERT INTO rating_values (rating_id, position, slot, value, tag) VALUES (?, ?, ?, ?, ?)",
        [
            (rating_id, position, slot, value, encode_optional_text(tags.get(position)))
            for position, (slot, value) in enumerate(zip(rating.positions, rating.values, strict=True))
        ],
    )
    connection.executemany(
        "INSERT INTO rating_pairs (rating_id, place, first, second, result) VALUES (?, ?, ?, ?, ?)",
        [(rating_id, place, *pair) for place, pair in enumerate(rating.pairs)],
    )


def apply(connection: sqlite3.Connection, event: RatingsSettled | RatingModeSet) -> None:
    """Note which ratings an update learned from, with the human values; or how a run uses ratings from a step on."""
    if isinstance(event, RatingModeSet):
        connection.execute(
            "INSERT INTO rating_modes (run_id, step, mode) VALUES (?, ?, ?)", (event.run_id, event.step, event.mode)
        )
        return
    for use in event.uses:
        connection.executemany(
            "INSERT INTO rating_uses (rating_id, run_id, step, outcome) VALUES (?, ?, ?, ?)",
            [(rating_id, event.run_id, event.step, use.outcome) for rating_id in use.rating_ids],
        )
        if use.outcome == "used":
            _show_values(connection, use.group, use.values)


def _show_values(connection: sqlite3.Connection, ref: GroupRef, values: tuple[float | None, ...]) -> None:
    connection.executemany(
        "UPDATE rewards SET value = ? WHERE source = 'human' AND completion_id = "
        "(SELECT c.id FROM completions c JOIN groups g ON g.id = c.group_id WHERE g.run_id = ? AND g.superseded = 0 "
        "AND g.step = ? AND g.position = ? AND c.position = ?)",
        [(value, ref.run_id, ref.step, ref.index, position) for position, value in enumerate(values)],
    )


def _group(connection: sqlite3.Connection, ref: GroupRef) -> tuple[int, int]:
    row = connection.execute(
        "SELECT id, size FROM groups WHERE run_id = ? AND superseded = 0 AND step = ? AND position = ?",
        (ref.run_id, ref.step, ref.index),
    ).fetchone()
    if row is None:
        raise StoreError(
            f"Group {ref.index + 1} of step {ref.step} is not in the database any more (its run was resumed from an "
            "earlier step), so it cannot be rated; go on with the next group."
        )
    return int(row[0]), int(row[1])
