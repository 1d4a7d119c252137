"""The tables of the router: an append-only log of what was decided, answered, rated and changed, in one order."""

# router_log gives the order; kinds with values of their own keep them in the tables that name its id, the others as
# JSON in `body`. Triggers refuse to change or delete a row of any of these tables.
TABLES = """
CREATE TABLE router_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time_s REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT  -- JSON
);

CREATE TABLE router_decisions (
    decision INTEGER PRIMARY KEY,  -- from 1
    entry_id INTEGER NOT NULL UNIQUE REFERENCES router_log (id),
    query TEXT NOT NULL,
    query_class TEXT NOT NULL,
    reason TEXT NOT NULL,
    policy TEXT NOT NULL,
    sampler TEXT NOT NULL
);

CREATE TABLE router_candidates (
    decision INTEGER NOT NULL REFERENCES router_decisions (decision),
    place INTEGER NOT NULL,
    model TEXT NOT NULL,
    probability REAL NOT NULL,  -- of the active policy
    proposal REAL NOT NULL,  -- of the first draw
    draw INTEGER,  -- the order in which it was drawn, from 0; NULL: not asked
    propensity REAL,  -- of being drawn then, given those drawn before
    PRIMARY KEY (decision, place)
) WITHOUT ROWID;

CREATE TABLE router_answers (
    entry_id INTEGER PRIMARY KEY REFERENCES router_log (id),
    decision INTEGER NOT NULL REFERENCES router_decisions (decision),
    model TEXT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER,
    cost REAL NOT NULL,
    latency_s REAL NOT NULL,
    error TEXT NOT NULL  -- a sentence; empty: it answered
);

CREATE TABLE router_ratings (
    entry_id INTEGER NOT NULL REFERENCES router_log (id),  -- those rated together are one group
    place INTEGER NOT NULL,
    decision INTEGER NOT NULL REFERENCES router_decisions (decision),
    model TEXT NOT NULL,
    quality REAL NOT NULL,
    cost REAL NOT NULL,
    latency_s REAL NOT NULL,
    PRIMARY KEY (entry_id, place)
) WITHOUT ROWID;

CREATE TABLE router_weights (  -- the weights of a class after each rating that moved them
    entry_id INTEGER NOT NULL REFERENCES router_log (id),
    place INTEGER NOT NULL,
    decision INTEGER NOT NULL REFERENCES router_decisions (decision),
    query_class TEXT NOT NULL,
    model TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (entry_id, place)
) WITHOUT ROWID;

CREATE TABLE router_networks (
    version INTEGER PRIMARY KEY,
    entry_id INTEGER NOT NULL UNIQUE REFERENCES router_log (id),
    network BLOB NOT NULL,  -- a safetensors file
    gain REAL NOT NULL,
    gain_low REAL NOT NULL,
    gain_high REAL NOT NULL
);
"""

INDEXES = """
CREATE INDEX router_answers_by_decision ON router_answers (decision);
CREATE INDEX router_ratings_by_decision ON router_ratings (decision);
"""

_TABLE_NAMES = (
    "router_log",
    "router_decisions",
    "router_candidates",
    "router_answers",
    "router_ratings",
    "router_weights",
    "router_networks",
)


def triggers() -> list[str]:
    """The statements that make the tables append-only."""
    return [
        f"CREATE TRIGGER {name}_no_{action.lower()} BEFORE {action} ON {name} "
        f"BEGIN SELECT RAISE(ABORT, 'the router''s log is append-only'); END"
        for name in _TABLE_NAMES
        for action in ("UPDATE", "DELETE")
    ]
