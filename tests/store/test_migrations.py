import gzip
import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_gui.commands import Pause
from grpo_gui.errors import StoreError
from grpo_gui.events import RunStatus
from grpo_gui.store import connections
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery, GroupRef
from grpo_gui.store.schema import SCHEMA_VERSION, make_migrations
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import new_run, step

FIXTURES = Path(__file__).parent / "fixtures"


def unpack(version, path):
    path.write_bytes(gzip.decompress((FIXTURES / f"v{version}.db.gz").read_bytes()))


def ask(path, sql):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


def test_that_there_is_a_fixture_for_every_schema():
    names = {file.name for file in FIXTURES.iterdir()}
    assert names == {f"v{version}.db.gz" for version in range(1, SCHEMA_VERSION + 1)}
    assert len(make_migrations()._migrations) == SCHEMA_VERSION


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_that_a_database_of_every_schema_is_read_and_goes_on(path, version):
    unpack(version, path)
    writer = StoreWriter.open(path)
    with StoreReader(path) as reader:
        (run,) = reader.runs()
        assert (run.name, run.seed, run.status, run.message) == (
            "old run",
            11,
            RunStatus.FINISHED,
            "All steps are done.",
        )
        assert (run.steps_done, run.completions, run.state_path) == (4, 26, "/old/state")
        assert (run.device, run.parameters, run.versions) == ("cpu", 816_768, (("torch", "2.13.0"),))
        metrics = dict(run.final_metrics)
        assert math.isnan(metrics.pop("reward"))
        assert metrics == {"kl": math.exp(-3), "eval/accuracy": 0.75}
        assert reader.points(run.id, "reward").values.tolist()[:3] == [0.01, 0.02, 0.03]
        assert reader.totals(run.id).samples.tolist() == [8, 16, 24, 26]
        first, second = reader.group(GroupRef(run.id, 4, 0)).completions
        assert (first.text, first.reward, first.kl_max, first.rewards) == ("NUL \0", None, None, (("exact", None),))
        assert (second.text, second.tokens) == ("🙂 \ud800", ("🙂", " ", "\ud800", "<eos>"))
        assert len(second.old_logps) == 16
        assert reader.count(CompletionQuery(run.id, search="which")) == (26, 7)
        assert [(change.name, change.old, change.new) for change in reader.changes(run.id)] == [("beta", 0.02, 0.04)]
        assert [note.text for note in reader.notes(run.id)] == ["a note"]
        assert writer.take_commands(run.id) == [Pause()]
        writer.emit(step(run.id, 5))
        assert writer.flush()
        assert reader.newest_step(run.id) == 5
    writer.close()
    assert ask(path, "PRAGMA integrity_check") == [("ok",)]
    assert ask(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


@pytest.fixture
def next_schema(monkeypatch):
    """A version of the program with one more migration; hand back what it does."""
    actions = [lambda db: db.execute("ALTER TABLE runs ADD COLUMN mood TEXT")]

    def migrations():
        made = make_migrations()

        @made(name="next")
        def migrate(db):
            for action in actions:
                action(db)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")

        return made

    monkeypatch.setattr(connections, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(connections, "make_migrations", migrations)
    return actions


def test_that_a_copy_is_made_before_a_migration(path, next_schema):
    unpack(SCHEMA_VERSION, path)
    before = ask(path, "SELECT * FROM completions")
    StoreWriter.open(path).close()
    copy = path.with_name(f"a.before-v{SCHEMA_VERSION + 1}.db")
    assert ask(path, "SELECT mood FROM runs") == [(None,)]
    assert ask(copy, "SELECT * FROM completions") == before == ask(path, "SELECT * FROM completions")
    assert ask(copy, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    StoreWriter.open(path).close()  # nothing more to do, no further copy
    assert sorted(file.name for file in path.parent.iterdir()) == [copy.name, "a.db"]


def test_that_an_earlier_copy_is_not_overwritten(path, next_schema):
    unpack(SCHEMA_VERSION, path)
    earlier = path.with_name(f"a.before-v{SCHEMA_VERSION + 1}.db")
    earlier.write_text("precious")
    StoreWriter.open(path).close()
    assert earlier.read_text() == "precious"
    assert ask(path.with_name(f"a.before-v{SCHEMA_VERSION + 1}-2.db"), "SELECT name FROM runs") == [("old run",)]


def test_that_a_migration_that_fails_leaves_the_old_database(path, next_schema):
    unpack(SCHEMA_VERSION, path)
    before = ask(path, "SELECT sql FROM sqlite_master")
    next_schema.append(lambda db: db.execute("CREATE TABLE runs (id)"))
    with pytest.raises(StoreError, match="already exists"):
        StoreWriter.open(path)
    assert ask(path, "SELECT sql FROM sqlite_master") == before
    assert ask(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_that_nothing_is_migrated_when_the_copy_cannot_be_made(path, next_schema, monkeypatch):
    unpack(SCHEMA_VERSION, path)

    def full_disk(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full_disk)
    with pytest.raises(StoreError, match=r"the copy .* could not be written .*No space left"):
        StoreWriter.open(path)
    assert ask(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert [file.name for file in path.parent.iterdir()] == ["a.db"]


def test_that_a_reader_of_an_older_database_asks_for_the_window(path, next_schema):
    unpack(SCHEMA_VERSION, path)
    with pytest.raises(StoreError, match="made by an older version"):
        StoreReader(path)


def test_that_opening_an_up_to_date_database_needs_no_sqlite_utils(path):
    unpack(SCHEMA_VERSION, path)
    code = (
        "import sys; from pathlib import Path; from grpo_gui.store.writer import StoreWriter; "
        "StoreWriter.open(Path(sys.argv[1])).close(); print('sqlite_utils' in sys.modules, 'torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"


def test_that_processes_that_make_the_database_at_once_all_succeed(path):
    code = (
        "import sys; from pathlib import Path; from grpo_gui.store.writer import StoreWriter; "
        "from tests.store.samples import new_run; sys.stdin.readline(); "
        "writer = StoreWriter.open(Path(sys.argv[1])); print(writer.create_run(new_run())); writer.close()"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    outputs = [child.communicate()[0] for child in children]
    assert sorted(outputs) == ["1\n", "2\n", "3\n", "4\n"]


def test_that_a_run_made_by_the_writer_is_there_for_a_new_reader(path):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    with StoreReader(path) as reader:
        assert reader.runs()[0].id == run_id
    writer.close()


OPEN = """
import sys
from pathlib import Path
from grpo_gui.store.writer import StoreWriter
print("ready", flush=True)
sys.stdin.readline()
writer = StoreWriter.open(Path(sys.argv[1]))
writer.close()
"""


@pytest.mark.parametrize("version", [0, 1], ids=["new", "old"])
def test_that_processes_that_open_a_database_at_once_wait_for_the_one_that_makes_it_ready(path, version):
    if version:
        unpack(version, path)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    openers = [subprocess.Popen([sys.executable, "-c", OPEN, str(path)], text=True, **pipes) for _ in range(4)]
    for opener in openers:
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        opener.stdin.write("\n")
        opener.stdin.flush()
    for opener in openers:
        _, said = opener.communicate(timeout=60)
        assert (opener.returncode, said) == (0, "")
    copies = [file.name for file in path.parent.glob("*.before-*")]
    assert copies == ([f"a.before-v{SCHEMA_VERSION}.db"] if version else [])
    assert ask(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
