"""The tables of snapshots: what was saved, where runs were taken up again, which of two texts a person preferred."""

TABLES = """
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL,  -- every, best, hand, stop, end
    created_s REAL NOT NULL,
    has_training_state INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,  -- of snapshot.json, which holds those of the other files
    metrics TEXT NOT NULL,  -- JSON object; null: not finite
    removed_s REAL  -- by the keep-rule or by hand
);

CREATE TABLE run_starts (  -- each time a trainer took up the run; after the first one each is a seam in the curves
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,  -- complete steps in the state that it went on from
    time_s REAL NOT NULL
);

CREATE TABLE pair_ratings (  -- blind: which of two snapshots wrote the better completion
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),  -- whose held-out prompts were answered
    first_snapshot_id INTEGER REFERENCES snapshots (id),  -- NULL: the run's base model
    second_snapshot_id INTEGER REFERENCES snapshots (id),
    prompt TEXT NOT NULL,
    seed INTEGER NOT NULL,
    first_text TEXT NOT NULL,
    second_text TEXT NOT NULL,
    first_was_left INTEGER NOT NULL,
    choice TEXT NOT NULL,  -- first, second, equal, skipped
    rated_s REAL NOT NULL,
    undone_s REAL  -- taken back
);
"""

INDEXES = """
CREATE INDEX snapshots_by_run ON snapshots (run_id, step);
CREATE INDEX run_starts_by_run ON run_starts (run_id);
CREATE INDEX pair_ratings_by_pair ON pair_ratings (run_id, first_snapshot_id, second_snapshot_id);
"""
