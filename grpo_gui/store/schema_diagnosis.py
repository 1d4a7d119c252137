"""The tables of the diagnosis: what was found wrong with a run, and what its user does not want to hear of."""

TABLES = """
CREATE TABLE findings (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    detector TEXT NOT NULL,
    position INTEGER NOT NULL,  -- open ones first, the most severe first
    title TEXT NOT NULL,
    severity TEXT NOT NULL,  -- note, warning, severe
    state TEXT NOT NULL,  -- open, symptom (of root), closed
    root TEXT NOT NULL,  -- the detector that explains it, or empty
    onset INTEGER NOT NULL,  -- the step from which on it held
    noticed INTEGER NOT NULL,  -- the step at which it was said
    headline TEXT NOT NULL,
    detail TEXT NOT NULL,
    action TEXT NOT NULL,
    document TEXT NOT NULL,  -- JSON: all of it
    PRIMARY KEY (run_id, detector)
) WITHOUT ROWID;

CREATE TABLE muted_findings (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    detector TEXT NOT NULL,
    muted_s REAL NOT NULL,
    PRIMARY KEY (run_id, detector)
) WITHOUT ROWID;
"""
