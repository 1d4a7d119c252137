"""The tables, indexes and views of the database, and the migrations that make them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from grpo_gui.store import schema_diagnosis, schema_outside, schema_rating, schema_router, schema_runs, schema_snapshots

if TYPE_CHECKING:
    from sqlite_utils import Database, Migrations

SCHEMA_VERSION = 7  # kept in PRAGMA user_version; one more with every migration
APPLICATION_ID = 0x4752504F  # "GRPO", kept in PRAGMA application_id: tells our databases from others

# Conventions of all tables:
# - REAL NULL means NaN where a value must be there. Where NULL means "none", `nan_columns` names the
#   columns (separated by blanks) that are NaN. Infinities are stored as they are.
# - Text that SQLite tools would cut or refuse (NUL, lone surrogates) is a BLOB of its UTF-8 bytes.
# - superseded = 0: the row counts. n > 0: it was replaced when the run was resumed from an earlier
#   step for the n-th time; kept, and left out of every view.
# - Per-token blobs hold one little-endian value per token: float32, `clipped` int8,
#   token ids unsigned with 2 or 4 bytes each (blob size / number of tokens).
TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    config TEXT NOT NULL,  -- JSON
    seed INTEGER NOT NULL,
    device TEXT NOT NULL,
    origin TEXT NOT NULL,  -- embedded, headless, background
    status TEXT NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    traceback TEXT NOT NULL DEFAULT '',
    program TEXT NOT NULL,  -- program and version that wrote the run
    versions TEXT NOT NULL DEFAULT '[]',  -- JSON: pairs of package and version
    parameters INTEGER,
    created_s REAL NOT NULL,
    ended_s REAL,
    steps_done INTEGER NOT NULL DEFAULT 0,
    completions INTEGER NOT NULL DEFAULT 0,
    parent_run_id INTEGER REFERENCES runs (id),
    parent_step INTEGER,
    pid INTEGER,  -- the process that trains, while the status is an active one
    process_started_s REAL
);

CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    name TEXT NOT NULL,
    definition_id TEXT NOT NULL,
    superseded INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, name, definition_id, superseded)
);

CREATE TABLE points (
    series_id INTEGER NOT NULL REFERENCES series (id),
    step INTEGER NOT NULL,
    value REAL,
    PRIMARY KEY (series_id, step)
) WITHOUT ROWID;

CREATE TABLE steps (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    optimizer_step INTEGER NOT NULL,
    time_s REAL,
    total_completions INTEGER NOT NULL,  -- of the run, up to and including this step
    total_tokens INTEGER NOT NULL,  -- completion tokens, likewise
    advantage_counts BLOB NOT NULL,  -- 27 bins over [-2.6, 2.6], uint32, outliers in the end bins
    PRIMARY KEY (run_id, superseded, step)
) WITHOUT ROWID;

CREATE TABLE prompts (
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    prompt TEXT NOT NULL,
    answer TEXT,
    token_ids BLOB NOT NULL,
    tokens INTEGER NOT NULL,
    digest BLOB NOT NULL UNIQUE  -- of the columns above, so that each prompt is stored once
);

CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    position INTEGER NOT NULL,  -- the prompt's place in the step, from 0
    prompt_id INTEGER NOT NULL REFERENCES prompts (id),
    size INTEGER NOT NULL,
    right_count INTEGER,  -- NULL: no answer to compare with
    reward_std REAL,  -- sample std of the finite rewards, 0 for fewer than two
    has_signal INTEGER NOT NULL,  -- 1: some advantage is not 0
    UNIQUE (run_id, superseded, step, position)
);

CREATE TABLE completions (
    id INTEGER PRIMARY KEY,
    group_id INTEGER NOT NULL REFERENCES groups (id),
    position INTEGER NOT NULL,  -- the place in the group, from 0
    run_id INTEGER NOT NULL,  -- repeated from the group, for the indexes
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    prompt_id INTEGER NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,  -- up to and including the first EOS
    truncated INTEGER NOT NULL,
    correct INTEGER,  -- NULL: no answer to compare with
    reward REAL,  -- weighted sum over the sources that spoke; NULL: all abstained
    advantage REAL,
    ratio_min REAL,
    ratio_max REAL,
    clip_fraction_low REAL,
    clip_fraction_high REAL,
    clip_fraction REAL AS (clip_fraction_low + clip_fraction_high),
    kl_mean REAL,  -- NULL: no reference
    kl_max REAL,
    nan_columns TEXT
);

CREATE TABLE completion_tokens (
    completion_id INTEGER PRIMARY KEY REFERENCES completions (id),
    token_ids BLOB NOT NULL,
    tokens TEXT,  -- JSON list of token texts, only where they differ from the table vocabulary
    old_logps BLOB NOT NULL,
    logps BLOB NOT NULL,
    ref_logps BLOB NOT NULL,
    entropy BLOB NOT NULL,
    clipped BLOB NOT NULL
);

CREATE TABLE tasks (  -- what each run has sampled
    run_id INTEGER NOT NULL REFERENCES runs (id),
    task TEXT NOT NULL,
    PRIMARY KEY (run_id, task)
) WITHOUT ROWID;

CREATE TABLE vocabulary (
    run_id INTEGER NOT NULL REFERENCES runs (id),
    token_id INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, token_id)
) WITHOUT ROWID;

CREATE TABLE rewards (
    completion_id INTEGER NOT NULL REFERENCES completions (id),
    position INTEGER NOT NULL,
    source TEXT NOT NULL,
    value REAL,  -- unweighted; NULL: no opinion, unless is_nan
    is_nan INTEGER,
    PRIMARY KEY (completion_id, position)
) WITHOUT ROWID;

CREATE TABLE changes (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    superseded INTEGER NOT NULL DEFAULT 0,
    step INTEGER NOT NULL,
    name TEXT NOT NULL,
    old REAL,
    new REAL,
    nan_columns TEXT
);

CREATE TABLE training_states (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    step INTEGER NOT NULL,
    path TEXT NOT NULL,
    saved_s REAL NOT NULL
);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    step INTEGER NOT NULL,
    text TEXT NOT NULL,
    created_s REAL NOT NULL
);

CREATE TABLE commands (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id),
    command TEXT NOT NULL,  -- JSON
    posted_s REAL NOT NULL,
    taken_s REAL
);
"""

INDEXES = """
CREATE INDEX completions_by_group ON completions (group_id, position);
CREATE INDEX completions_by_reward ON completions (run_id, reward) WHERE superseded = 0;
CREATE INDEX completions_by_tokens ON completions (run_id, tokens) WHERE superseded = 0;
CREATE INDEX completions_by_advantage ON completions (run_id, advantage) WHERE superseded = 0;
CREATE INDEX completions_by_kl_max ON completions (run_id, kl_max) WHERE superseded = 0;
CREATE INDEX completions_by_clip_fraction ON completions (run_id, clip_fraction) WHERE superseded = 0;
CREATE INDEX changes_by_run ON changes (run_id, step);
CREATE INDEX training_states_by_run ON training_states (run_id);
CREATE INDEX notes_by_run ON notes (run_id, step);
CREATE INDEX commands_by_run ON commands (run_id) WHERE taken_s IS NULL;
"""

VIEWS = """
CREATE VIEW completion_list AS
SELECT c.id, c.run_id, c.step, g.position AS group_position, c.position, p.task, p.prompt, p.answer, c.text,
    c.tokens, c.truncated, c.correct, c.reward, c.advantage, c.ratio_min, c.ratio_max, c.clip_fraction_low,
    c.clip_fraction_high, c.clip_fraction, c.kl_mean, c.kl_max
FROM completions c JOIN groups g ON g.id = c.group_id JOIN prompts p ON p.id = c.prompt_id
WHERE c.superseded = 0;

CREATE VIEW group_list AS
SELECT g.id, g.run_id, g.step, g.position, p.task, p.prompt, p.answer, g.size, g.right_count, g.reward_std, g.has_signal
FROM groups g JOIN prompts p ON p.id = g.prompt_id
WHERE g.superseded = 0;

CREATE VIEW step_metrics AS
SELECT s.run_id, p.step, s.name, p.value, s.definition_id
FROM series s JOIN points p ON p.series_id = s.id
WHERE s.superseded = 0;

CREATE VIEW reward_by_source AS
SELECT c.run_id, c.step, r.source, avg(r.value) AS mean, min(r.value) AS min, max(r.value) AS max,
    count(r.value) AS opinions, count(*) AS completions
FROM completions c JOIN rewards r ON r.completion_id = c.id
WHERE c.superseded = 0
GROUP BY c.run_id, c.step, r.source;
"""


def make_migrations() -> "Migrations":
    """The migrations, in order. Imports sqlite_utils (0.2 s), so it is called only when one is needed."""
    from sqlite_utils import Migrations

    migrations = Migrations("grpo-gui")

    @migrations()
    def v1_main_job(db: "Database") -> None:
        for script in (TABLES, INDEXES, VIEWS):
            run_statements(db, script)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("PRAGMA user_version = 1")

    @migrations()
    def v2_snapshots(db: "Database") -> None:
        for script in (schema_snapshots.TABLES, schema_snapshots.INDEXES):
            run_statements(db, script)
        db.execute(
            "INSERT INTO run_starts (run_id, step, time_s) SELECT id, coalesce(parent_step, 0), created_s FROM runs"
        )
        db.execute("PRAGMA user_version = 2")

    @migrations()
    def v3_diagnosis(db: "Database") -> None:
        run_statements(db, schema_diagnosis.TABLES)
        db.execute("PRAGMA user_version = 3")

    @migrations()
    def v4_router(db: "Database") -> None:
        _extend(db, 4, (schema_router.TABLES, schema_router.INDEXES), schema_router.triggers())

    @migrations()
    def v5_runs(db: "Database") -> None:
        _extend(db, 5, (schema_runs.TABLES, schema_runs.INDEXES))

    @migrations()
    def v6_ratings(db: "Database") -> None:
        scripts = schema_rating.TABLES, schema_rating.INDEXES
        _extend(db, 6, scripts, schema_rating.triggers())

    @migrations()
    def v7_outside(db: "Database") -> None:
        _extend(db, 7, (schema_outside.TABLES, schema_outside.INDEXES))

    return migrations


def _extend(db: "Database", version: int, scripts: Iterable[str], triggers: Iterable[str] = ()) -> None:
    """Add tables, indexes and triggers: a whole migration that only adds."""
    for script in scripts:
        run_statements(db, script)
    for trigger in triggers:
        db.execute(trigger)
    db.execute(f"PRAGMA user_version = {version}")


def run_statements(db: "Database", script: str) -> None:
    """Run the statements one by one: `executescript` would commit the migration's transaction."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.execute(statement)
