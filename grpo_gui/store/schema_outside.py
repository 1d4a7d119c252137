"""The tables of runs made elsewhere: where they lie and how far each of their files was read."""

TABLES = """
CREATE TABLE outside_runs (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id),
    place TEXT NOT NULL,  -- absolute path, or ssh://host/path
    format TEXT NOT NULL,  -- trl, bridge, tensorboard, verl, metrics, completions
    digest TEXT NOT NULL,  -- of the content that was imported; empty while it is followed
    summary TEXT NOT NULL  -- how complete the run is, as a sentence
);

CREATE TABLE outside_sources (  -- one row a file
    run_id INTEGER NOT NULL REFERENCES runs (id),
    name TEXT NOT NULL,  -- path inside the place
    identity TEXT NOT NULL,  -- changes when the file is another one under the same name
    offset INTEGER NOT NULL,  -- bytes whose content is stored
    state TEXT NOT NULL,  -- JSON: what its reader must remember
    problem TEXT NOT NULL,  -- why something of it was left out; empty: nothing was
    PRIMARY KEY (run_id, name)
) WITHOUT ROWID;

ALTER TABLE series ADD COLUMN raw_name TEXT NOT NULL DEFAULT '';
"""

# series.raw_name: how the program that made the run calls the metric; empty for runs of this program.
INDEXES = """
CREATE INDEX outside_runs_by_place ON outside_runs (place);
CREATE INDEX outside_runs_by_digest ON outside_runs (digest);
"""
