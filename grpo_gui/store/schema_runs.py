"""What keeps order among many runs: tags, archive, bin; and the index that finds a prompt's groups."""

TABLES = """
ALTER TABLE runs ADD COLUMN archived_s REAL;

ALTER TABLE runs ADD COLUMN binned_s REAL;

ALTER TABLE runs ADD COLUMN unfinished INTEGER NOT NULL DEFAULT 0;

CREATE TABLE run_tags (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    position INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX groups_by_prompt ON groups (prompt_id);
"""
# runs.binned_s: moved to the bin, from which it can be taken back until the bin is emptied.
# runs.unfinished = 1: parts of the run are missing, because it is being deleted or copied in; nobody sees it, and
# whoever empties the bin next removes it.
