"""The tables of ratings: what people said about groups, entry by entry, and which updates learned from it."""

# An entry is never changed (triggers see to it): a later one replaces it or takes it back; it goes only with its run.
# rating_uses and rating_modes have rows put aside when a run is resumed from an earlier step.
TABLES = """
CREATE TABLE ratings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    group_id INTEGER NOT NULL REFERENCES groups (id),
    rater TEXT NOT NULL,
    mode TEXT NOT NULL,  -- scores, ranks, pairs, all_good, all_bad, skip, flag, undone
    shown_s REAL NOT NULL,
    first_key_s REAL,
    submitted_s REAL NOT NULL,
    note TEXT NOT NULL,
    reason TEXT NOT NULL,  -- why the group was shown
    is_repeat INTEGER NOT NULL,
    is_audit INTEGER NOT NULL,
    undoes INTEGER REFERENCES ratings (id) ON DELETE CASCADE  -- such an entry has no values
);

CREATE TABLE rating_values (
    rating_id INTEGER NOT NULL REFERENCES ratings (id),
    position INTEGER NOT NULL,  -- the completion's place in its group, from 0
    slot INTEGER NOT NULL,  -- the place where it was shown, from 0; equal completions share it
    value REAL,  -- score from 1 to 5, or level of the ranking from 1; NULL: not rated
    tag TEXT,  -- why it was flagged
    PRIMARY KEY (rating_id, position)
) WITHOUT ROWID;

CREATE TABLE rating_pairs (
    rating_id INTEGER NOT NULL REFERENCES ratings (id),
    place INTEGER NOT NULL,
    first INTEGER NOT NULL,  -- places of completions in the group
    second INTEGER NOT NULL,
    result REAL NOT NULL,  -- 1: the first is better, 0.5: a tie, 0
    PRIMARY KEY (rating_id, place)
) WITHOUT ROWID;

CREATE TABLE rating_uses (
    id INTEGER PRIMARY KEY,
    rating_id INTEGER NOT NULL REFERENCES ratings (id),
    run_id INTEGER NOT NULL REFERENCES runs (id),  -- the run that trained; a branch learns from its parent's groups
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    outcome TEXT NOT NULL  -- used, expired
);

CREATE TABLE rating_modes (  -- how a run uses ratings, from a step on
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    mode TEXT NOT NULL  -- wait, async, offline
);
"""

INDEXES = """
CREATE INDEX ratings_by_group ON ratings (group_id);
CREATE INDEX ratings_undone ON ratings (undoes) WHERE undoes IS NOT NULL;
CREATE INDEX rating_uses_by_rating ON rating_uses (rating_id);
CREATE INDEX rating_uses_by_run ON rating_uses (run_id);
CREATE INDEX rating_modes_by_run ON rating_modes (run_id);
"""


def triggers() -> list[str]:
    """The statements that make the log append-only."""
    return [
        f"CREATE TRIGGER {name}_no_update BEFORE UPDATE ON {name} "
        f"BEGIN SELECT RAISE(ABORT, 'the log of ratings is append-only'); END"
        for name in ("ratings", "rating_values", "rating_pairs")
    ]
