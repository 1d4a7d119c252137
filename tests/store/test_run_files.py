"""One run as a database of its own, and such files taken in: nothing is lost, nothing comes twice."""

import sqlite3
from contextlib import closing

import pytest

from grpo_gui.errors import StoreError
from grpo_gui.events import GroupRef, RunStatus, TrainerStatus
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store import run_copy
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery
from grpo_gui.store.run_files import TakenIn, is_database, take_in, write_run_file
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step
from tests.store.test_migrations import unpack
from tests.store.test_shelf import add_run, broken_links, counts


def silent(done, total):
    pass


def never():
    return False


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(path):
    result = StoreWriter.open(path)
    yield result
    result.close()


def contents(path, run_id):
    """Everything that readers say of a run, but for ids of the database."""
    with StoreReader(path) as reader:
        run = reader.run(run_id)
        names = reader.series_names(run_id)
        curves = [reader.points(run_id, name) for name in names]
        groups = [group for number in range(1, run.steps_done + 1) for group in reader.groups_of_step(run_id, number)]
        return {
            "run": (
                run.name,
                run.seed,
                run.config,
                run.status,
                run.message,
                run.created_s,
                run.tags,
                run.final_metrics,
            ),
            "curves": [(one.name, one.definition_id, one.steps.tolist(), repr(one.values.tolist())) for one in curves],
            "totals": [values.tolist() for values in (reader.totals(run_id).samples, reader.totals(run_id).tokens)],
            "groups": [(one.ref.step, one.ref.index, one.prompt, one.answer, one.completions) for one in groups],
            "notes": [(note.step, note.text, note.created_s) for note in reader.notes(run_id)],
            "changes": reader.changes(run_id),
            "findings": reader.findings(run_id),
            "count": reader.count(CompletionQuery(run_id)),
            "ratings": [(one.event.mode, one.event.values) for one in reader.group_ratings(run_id)],
        }


def test_that_a_run_file_holds_just_the_run_and_everything_of_it(path, writer, tmp_path):
    add_run(writer, name="other")
    run_id = add_run(writer, name="标签 \ud800")
    odd = (completion(0, "NUL \0", reward=None, rewards=(("exact", None),)), completion(1, "\ud800"))
    writer.emit(step(run_id, 4, groups=(group(0, completions=odd),), metrics=(("reward", float("nan")),)))
    writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, 4, "All steps are done."))
    assert writer.flush()
    writer.rate_group(
        RatingEvent(GroupRef(run_id, 1, 0), "me", "scores", (5.0, 1.0, None, 2.0), (0, 1, 2, 3), 1, None, 2)
    )
    target = tmp_path / "out" / "one.db"
    told = []
    assert write_run_file(path, run_id, target, lambda *now: told.append(now), never)
    assert told[-1][0] == told[-1][1]
    assert [file.name for file in target.parent.iterdir()] == ["one.db"]
    assert broken_links(target) == []
    with StoreReader(target) as reader:
        (run,) = reader.runs()
    assert contents(target, run.id) == contents(path, run_id)
    rows = counts(target)
    assert (rows["snapshots"], rows["training_states"], rows["commands"]) == (0, 0, 0)


def test_that_another_installation_opens_a_run_file_and_goes_on_in_it(path, writer, tmp_path):
    run_id = add_run(writer)
    target = tmp_path / "one.db"
    write_run_file(path, run_id, target, silent, never)
    other = StoreWriter.open(target)
    try:
        new = add_run(other, name="new there")
        with StoreReader(target) as reader:
            assert [run.name for run in reader.runs()] == ["new there", "a run"]
            assert reader.newest_step(new) == 3
    finally:
        other.close()


def test_that_a_run_that_trains_is_copied_as_it_stands_and_is_not_held_up(path, writer, tmp_path, monkeypatch):
    monkeypatch.setattr(run_copy, "GROUPS_AT_ONCE", 1)
    run_id = add_run(writer, status=RunStatus.RUNNING)
    written = []

    def progress(done, total):
        writer.emit(step(run_id, 4 + len(written)))
        written.append(writer.flush())

    target = tmp_path / "one.db"
    assert write_run_file(path, run_id, target, progress, never)
    assert all(written)
    with StoreReader(target) as reader:
        (run,) = reader.runs()
        assert (run.status, run.message) == (RunStatus.STOPPED, "It was copied while it was training.")
        assert reader.newest_step(run.id) == 3


def test_that_a_cancelled_or_impossible_copy_leaves_no_file(path, writer, tmp_path):
    run_id = add_run(writer)
    target = tmp_path / "out" / "one.db"
    assert not write_run_file(path, run_id, target, silent, lambda: True)
    assert list(target.parent.iterdir()) == []
    with pytest.raises(StoreError, match="Run 99 is not in the database"):
        write_run_file(path, 99, target, silent, never)
    assert list(target.parent.iterdir()) == []
    with pytest.raises(StoreError, match="no database"):
        write_run_file(tmp_path / "none.db", 1, target, silent, never)


def test_that_runs_are_taken_in_beside_others_and_only_once(path, writer, tmp_path, monkeypatch):
    monkeypatch.setattr(run_copy, "GROUPS_AT_ONCE", 2)
    first, second = add_run(writer, name="first"), add_run(writer, name="second")
    target = tmp_path / "b.db"
    other = StoreWriter.open(target)
    try:
        own = add_run(other, name="own")
        before = contents(target, own)
        assert take_in(path, other, silent, never) == TakenIn((own + 1, own + 2), ())
        assert contents(target, own) == before
        assert contents(target, own + 1) == contents(path, first)
        assert contents(target, own + 2) == contents(path, second)
        rows = counts(target)
        assert take_in(path, other, silent, never) == TakenIn((), (own + 1, own + 2))
        assert counts(target) == rows
        assert broken_links(target) == []
    finally:
        other.close()


def test_that_runs_of_files_with_the_same_time_are_not_taken_for_each_other(path, writer, tmp_path):
    for place in ("/a.csv", "/b.csv"):
        run_id = writer.begin_outside_run(new_run(origin="imported"), place, "metrics")
        writer.set_times(run_id, 1e9, 1e9)
    with closing(StoreWriter.open(tmp_path / "other.db")) as other:
        assert take_in(path, other, silent, never) == TakenIn((1, 2), ())
        assert take_in(path, other, silent, never) == TakenIn((), (1, 2))


def test_that_a_run_trains_on_while_others_are_taken_in(path, writer, tmp_path, monkeypatch):
    monkeypatch.setattr(run_copy, "GROUPS_AT_ONCE", 1)
    add_run(writer, name="first")
    other = StoreWriter.open(tmp_path / "b.db")
    try:
        training = add_run(other, name="training", status=RunStatus.RUNNING)
        newest = []

        def progress(done, total):
            other.emit(step(training, 4 + len(newest)))
            newest.append(other.flush())

        (new,) = take_in(path, other, progress, never).new
        assert contents(tmp_path / "b.db", new) == contents(path, 1)
        with StoreReader(tmp_path / "b.db") as reader:
            assert reader.newest_step(training) == 3 + len(newest)
        assert broken_links(tmp_path / "b.db") == []
    finally:
        other.close()


def test_that_a_cancelled_taking_in_leaves_nothing(path, writer, tmp_path, monkeypatch):
    monkeypatch.setattr(run_copy, "GROUPS_AT_ONCE", 1)
    add_run(writer)
    other = StoreWriter.open(tmp_path / "b.db")
    try:
        pieces = []
        result = take_in(path, other, lambda *_: pieces.append(1), lambda: len(pieces) > 2)
        assert result == TakenIn((), ())
        rows = counts(tmp_path / "b.db")
        assert (rows["runs"], rows["completions"], rows["prompts"]) == (0, 0, 0)
    finally:
        other.close()


@pytest.mark.parametrize("version", range(1, 5))
def test_that_a_database_of_an_older_schema_is_taken_in_and_left_as_it_was(tmp_path, version):
    old = tmp_path / "old.db"
    unpack(version, old)
    before = old.read_bytes()
    other = StoreWriter.open(tmp_path / "b.db")
    try:
        assert take_in(old, other, silent, never).new == (1,)
        with StoreReader(tmp_path / "b.db") as reader:
            (run,) = reader.runs()
            assert (run.name, run.completions) == ("old run", 26)
            assert reader.count(CompletionQuery(run.id)) == (26, 7)
    finally:
        other.close()
    assert old.read_bytes() == before


def test_that_other_files_are_refused_with_a_sentence(tmp_path):
    text, foreign = tmp_path / "a.txt", tmp_path / "foreign.db"
    text.write_text("no database")
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE a (b)")
    connection.commit()
    connection.close()
    assert not is_database(text)
    assert not is_database(tmp_path)
    assert is_database(foreign)
    other = StoreWriter.open(tmp_path / "b.db")
    try:
        with pytest.raises(StoreError, match="another program"):
            take_in(foreign, other, silent, never)
        with pytest.raises(StoreError, match="not a database"):
            take_in(text, other, silent, never)
    finally:
        other.close()
