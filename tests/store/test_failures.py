import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from grpo_gui.errors import BadInputError, MissingDatabaseError, StoreError
from grpo_gui.store import writer as writer_module
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery
from grpo_gui.store.run_files import take_in, write_run_file
from grpo_gui.store.writer import StoreWriter
from tests.rights import unprivileged
from tests.store.samples import group, new_run, step


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(path, monkeypatch):
    monkeypatch.setattr(writer_module, "RETRY_S", 0.01)
    writer = StoreWriter.open(path)
    yield writer
    writer.close()


def give_away(path, mode):
    """Make the file one of the user without rights."""
    path.chmod(mode)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown(path, 65534, 65534)


def assert_refused(path, sentence):
    with pytest.raises(StoreError, match=sentence) as raised:
        StoreWriter.open(path)
    assert str(path) in str(raised.value) or str(path.parent) in str(raised.value)


def test_that_a_missing_folder_is_made(tmp_path):
    path = tmp_path / "deep" / "er" / "a.db"
    StoreWriter.open(path).close()
    assert path.exists()


def test_that_an_empty_file_becomes_a_database(path):
    path.touch()
    StoreWriter.open(path).close()
    with StoreReader(path) as reader:
        assert reader.runs() == ()


def test_that_a_reader_of_an_empty_file_says_so(path):
    path.touch()
    with pytest.raises(MissingDatabaseError, match="is empty so far"):
        StoreReader(path)


def test_that_a_name_with_special_characters_works(tmp_path):
    path = tmp_path / "a b%20#ü?.db"
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    writer.close()
    with StoreReader(path) as reader:
        assert [run.id for run in reader.runs()] == [run_id]
    assert path.exists()


def test_that_a_folder_is_refused(tmp_path):
    assert_refused(tmp_path, "is a folder, not a database")
    with pytest.raises(StoreError, match="is a folder"):
        StoreReader(tmp_path)


def test_that_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    assert_refused(tmp_path / "file" / "a.db", "cannot be made")


@pytest.mark.parametrize("content", [b"hello", b"hello" * 1000, b"\0" * 5000, b"SQLite format 3\0" + b"x" * 4000])
def test_that_a_file_that_is_no_database_is_refused_and_left_as_it_is(path, content):
    path.write_bytes(content)
    assert_refused(path, "Choose another|choose another")
    with pytest.raises(StoreError):
        StoreReader(path)
    assert path.read_bytes() == content


def test_that_a_database_of_another_program_is_refused_and_left_as_it_is(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    assert_refused(path, "database of another program")
    with pytest.raises(StoreError, match="database of another program"):
        StoreReader(path)
    assert path.read_bytes() == before


def test_that_a_newer_database_is_refused_and_left_as_it_is(path):
    StoreWriter.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    assert_refused(path, "newer version of grpo-gui")
    with pytest.raises(StoreError, match="newer version of grpo-gui"):
        StoreReader(path)
    assert path.read_bytes() == before


def test_that_a_reader_of_no_database_says_so_and_makes_none(path):
    with pytest.raises(StoreError, match="There is no database at"):
        StoreReader(path)
    assert not path.exists()


def test_that_a_read_only_folder_is_refused(public_folder):
    public_folder.chmod(0o555)
    with unprivileged():
        assert_refused(public_folder / "a.db", "cannot be opened")
        assert_refused(public_folder / "deep" / "a.db", "cannot be made")
    assert list(public_folder.iterdir()) == []


def test_that_a_read_only_file_is_refused_for_writing_and_left_as_it_is(public_folder):
    path = public_folder / "a.db"
    StoreWriter.open(path).close()
    give_away(path, 0o444)
    with unprivileged():
        before = path.read_bytes()
        assert_refused(path, "may not be written")
        with StoreReader(path) as reader:
            assert reader.runs() == ()
    assert path.read_bytes() == before


def test_that_a_file_without_the_right_to_read_is_refused(public_folder):
    path = public_folder / "a.db"
    StoreWriter.open(path).close()
    give_away(path, 0o000)
    with unprivileged():
        assert_refused(path, "cannot be opened")
        with pytest.raises(StoreError, match="cannot be opened"):
            StoreReader(path)


def test_that_a_database_in_a_read_only_folder_is_read_and_exported_and_not_written(public_folder):
    path = public_folder / "a b.db"
    with closing(StoreWriter.open(path)) as writer:
        run_id = writer.create_run(new_run())
        writer.emit(step(run_id, 1))
    public_folder.chmod(0o555)
    with unprivileged():
        with StoreReader(path) as reader:
            assert reader.newest_step(run_id) == 1
        with tempfile.TemporaryDirectory() as name:
            target = Path(name) / "run.db"
            assert write_run_file(path, run_id, target, lambda *_: None, lambda: False)
            with StoreReader(target) as reader:
                assert reader.newest_step(1) == 1
            with closing(StoreWriter.open(Path(name) / "other.db")) as writer:
                assert take_in(path, writer, lambda *_: None, lambda: False).new == (1,)
        assert_refused(path, "may not be written|cannot be opened")
    assert [file.name for file in public_folder.iterdir()] == ["a b.db"]


@pytest.mark.parametrize("has_index", [True, False], ids=["with its index", "without its index"])
def test_that_changes_beside_a_database_that_cannot_be_written_are_never_missed(public_folder, tmp_path, has_index):
    path, copy = tmp_path / "a.db", public_folder / "a.db"
    with closing(StoreWriter.open(path)) as writer:
        run_id = writer.create_run(new_run())
        writer.emit(step(run_id, 1))
        assert writer.flush()
        for ending in ("", "-wal", "-shm") if has_index else ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    for file in public_folder.iterdir():
        file.chmod(0o444)
    public_folder.chmod(0o555)
    with unprivileged():
        if has_index:
            with StoreReader(copy) as reader:
                assert reader.newest_step(run_id) == 1
        else:
            with pytest.raises(StoreError, match=r"are in a\.db-wal, .* Copy both files"):
                StoreReader(copy)


def test_that_a_database_in_a_folder_that_may_not_be_entered_is_named(public_folder):
    path = public_folder / "a.db"
    StoreWriter.open(path).close()
    public_folder.chmod(0o000)
    with unprivileged():
        assert_refused(path, "cannot be reached")
        with pytest.raises(StoreError, match="cannot be reached"):
            StoreReader(path)


def limit_pages(writer, pages):
    """A disk that is full after so many pages."""
    writer._call(lambda: writer._connection.execute(f"PRAGMA max_page_count = {pages}").fetchall(), locked=False)


def used_pages(writer):
    return writer._call(lambda: writer._connection.execute("PRAGMA page_count").fetchone()[0], locked=False)


def test_that_a_full_disk_keeps_the_events_waiting_and_loses_none(writer, path):
    run_id = writer.create_run(new_run())
    writer.emit(step(run_id, 1))
    assert writer.flush()
    limit_pages(writer, used_pages(writer))
    texts = []
    for number in range(2, 40):
        event = step(run_id, number, prompts=4, size=8)
        texts += [sample.text for part in event.groups for sample in part.completions]
        writer.emit(event)
    assert not writer.flush(0.3)
    assert "The disk is full" in writer.problem
    assert str(path) in writer.problem
    assert "The disk is full" in writer.congestion()  # at once: a kill would lose what waits in memory
    with pytest.raises(StoreError, match="The disk is full"):
        writer.add_note(run_id, 1, "x" * 100_000)
    with StoreReader(path) as reader:
        assert reader.newest_step(run_id) >= 1
    limit_pages(writer, 1 << 30)
    assert writer.flush()
    assert writer.problem is None
    assert writer.congestion() is None
    with StoreReader(path) as reader:
        assert reader.points(run_id, "reward").steps.tolist() == list(range(1, 40))
        page = reader.completion_page(CompletionQuery(run_id, sort="oldest", min_step=2), limit=10_000)
        assert [row.text for row in page.rows] == texts
        assert reader.notes(run_id) == ()


def test_that_closing_on_a_full_disk_says_what_was_not_saved(path):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    limit_pages(writer, used_pages(writer))
    for number in range(1, 30):
        writer.emit(step(run_id, number, prompts=4, size=8))
    with pytest.raises(StoreError, match=r"The disk is full.* \d+ events of the run could not be saved"):
        writer.close(timeout_s=0.5)
    with StoreReader(path) as reader:
        assert reader.run(run_id).name == "a run"


def test_that_a_locked_database_keeps_the_events_waiting(writer, path):
    run_id = writer.create_run(new_run())
    writer._call(lambda: writer._connection.execute("PRAGMA busy_timeout = 1"), locked=False)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer.emit(step(run_id, 1))
    assert not writer.flush(0.3)
    assert "holds the database" in writer.problem
    with pytest.raises(StoreError, match="holds the database"):
        writer.rename_run(run_id, "b")
    with StoreReader(path) as reader:
        assert reader.runs()[0].name == "a run"  # readers are not disturbed
    other.execute("ROLLBACK")
    other.close()
    assert writer.flush()
    assert writer.problem is None


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files in use from being moved")
def test_that_a_database_moved_away_is_named_and_gets_the_events_when_it_is_back(writer, path):
    run_id = writer.create_run(new_run())
    names = [path.with_name(path.name + end) for end in ("", "-wal", "-shm")]
    for name in names:
        name.rename(name.with_name("moved " + name.name))
    writer.emit(step(run_id, 1))
    assert not writer.flush(0.1)
    assert "was moved, deleted or replaced" in writer.problem
    with pytest.raises(StoreError, match="was moved, deleted or replaced"):
        writer.create_run(new_run())
    for name in names:
        name.with_name("moved " + name.name).rename(name)
    assert writer.flush()
    with StoreReader(path) as reader:
        assert reader.newest_step(run_id) == 1


class FailingConnection:
    """Reports a disk error at the next commits, and forgets what was written as SQLite does."""

    def __init__(self, connection, failures):
        self._connection = connection
        self.failures = failures

    def execute(self, sql, *arguments):
        if sql == "COMMIT" and self.failures:
            self.failures -= 1
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = 10 | (3 << 8)  # SQLITE_IOERR_WRITE
            raise error
        return self._connection.execute(sql, *arguments)

    def __getattr__(self, name):
        return getattr(self._connection, name)


def test_that_a_disk_error_at_the_commit_writes_the_events_again_and_once(writer, path):
    run_id = writer.create_run(new_run())
    failing = FailingConnection(writer._connection, 3)
    writer._connection = failing
    parts = (group(0, prompt="new to the database"),)
    for number in range(1, 6):
        writer.emit(step(run_id, number, groups=parts, metrics=(("only/here", 1.0),)))
    assert writer.flush()
    assert failing.failures == 0
    with StoreReader(path) as reader:
        assert reader.points(run_id, "only/here").steps.tolist() == [1, 2, 3, 4, 5]
        assert reader.count(CompletionQuery(run_id)) == (20, 5)
        assert reader.groups_of_step(run_id, 5)[0].prompt == "new to the database"


def test_that_a_writer_that_stopped_by_an_error_of_ours_says_so_at_once(path, monkeypatch):
    caught = []
    monkeypatch.setattr("threading.excepthook", lambda arguments: caught.append(arguments.exc_type))
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    monkeypatch.setattr(writer._inserter, "apply", lambda event: 1 / 0)
    writer.emit(step(run_id, 1))
    writer._thread.join(10)
    assert caught == [ZeroDivisionError]
    assert "stopped by an error in grpo-gui" in writer.congestion()
    assert not writer.flush(0.01)
    with pytest.raises(StoreError, match="stopped by an error"):
        writer.add_note(run_id, 1, "x")
    with pytest.raises(StoreError, match="1 events of the run could not be saved"):
        writer.close(timeout_s=0.01)


def test_that_a_damaged_database_is_named_by_the_reader(path):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    for number in range(1, 200):
        writer.emit(step(run_id, number))
    writer.close()
    content = bytearray(path.read_bytes())
    schema_pages = 80
    content[4096 * schema_pages :] = os.urandom(len(content) - 4096 * schema_pages)
    path.write_bytes(content)
    with StoreReader(path) as reader, pytest.raises(StoreError, match="is damaged"):
        reader.completion_page(CompletionQuery(run_id))


def test_that_an_unknown_order_is_refused(writer, path):
    run_id = writer.create_run(new_run())
    with StoreReader(path) as reader, pytest.raises(BadInputError, match="no order 'prettiest'"):
        reader.completion_page(CompletionQuery(run_id, sort="prettiest"))
