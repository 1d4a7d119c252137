"""Tags, archive, bin: what is kept, what is refused, and that deleting leaves nothing behind."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.events import EvalCompleted, GroupRef, RunStatus, SnapshotSaved, StateSaved, TrainerStatus
from grpo_gui.paths import run_files_dir
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store import shelf_writes
from grpo_gui.store.emptying import Emptied, empty_bin
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery
from grpo_gui.store.records_snapshots import PairRating, PairRef
from grpo_gui.store.run_tables import OF_RUN, ROOT, RunTables
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import group, new_run, step


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(path):
    result = StoreWriter.open(path)
    yield result
    result.close()


@pytest.fixture
def reader(path, writer):
    with StoreReader(path) as result:
        yield result


def add_run(writer, steps=3, *, name="a run", status=RunStatus.FINISHED, shared=True):
    run_id = writer.create_run(new_run(name=name))
    for number in range(1, steps + 1):
        groups = (
            group(0, prompt="Shared?" if shared else f"Own {name} {number}?"),
            group(1, seed=100 * run_id + number),
        )
        writer.emit(step(run_id, number, groups=groups))
    writer.emit(EvalCompleted(run_id, steps, 1e9, (("eval/reward", 0.75),)))
    writer.emit(StateSaved(run_id, steps, "/old/state"))
    writer.emit(SnapshotSaved(run_id, steps, 1e9, "/old/step", "end", True, 1, "abc", ()))
    writer.emit(TrainerStatus(run_id, status, steps))
    assert writer.flush()
    writer.add_note(run_id, 1, "a note")
    writer.set_tags(run_id, ("tag",))
    return run_id


def counts(path):
    """Rows of every table."""
    connection = sqlite3.connect(path)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    finally:
        connection.close()


def broken_links(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        connection.close()


def empty(writer, path, **options):
    with StoreReader(path) as reader:
        return empty_bin(writer, path, reader.binned_runs(), **options)


def test_that_tags_are_kept_in_their_order_and_once(writer, reader):
    run_id = add_run(writer)
    writer.set_tags(run_id, ("too hot", "baseline", "too hot", "标签 \ud800"))
    assert reader.run(run_id).tags == ("too hot", "baseline", "标签 \ud800")
    assert reader.runs()[0].tags == reader.run(run_id).tags
    writer.set_tags(run_id, ())
    assert reader.run(run_id).tags == ()


def test_that_the_archive_only_marks_a_run(writer, reader):
    run_id = add_run(writer)
    writer.archive_run(run_id, True)
    assert reader.run(run_id).archived
    assert reader.newest_step(run_id) == 3
    writer.archive_run(run_id, False)
    assert not reader.run(run_id).archived


def test_that_a_note_can_be_deleted(writer, reader):
    run_id = add_run(writer)
    note_id = writer.add_note(run_id, 2, "wrong")
    writer.remove_note(note_id)
    assert [note.text for note in reader.notes(run_id)] == ["a note"]
    assert [note.text for note in reader.all_notes()[run_id]] == ["a note"]


def test_that_a_run_in_the_bin_is_nowhere_else_and_comes_back_whole(writer, reader):
    kept, binned = add_run(writer), add_run(writer, name="away")
    before = reader.run(binned)
    writer.move_to_bin(binned)
    assert [run.id for run in reader.runs()] == [kept]
    assert reader.run(binned) is None
    assert [(run.id, run.name, run.unfinished) for run in reader.binned_runs()] == [(binned, "away", False)]
    writer.restore_run(binned)
    assert reader.run(binned) == before
    assert reader.binned_runs() == ()


def test_that_a_run_that_trains_is_not_deleted(writer, reader):
    run_id = add_run(writer, status=RunStatus.RUNNING)
    with pytest.raises(BadInputError, match=r"Run 1 \(a run\) is running; stop it before"):
        writer.move_to_bin(run_id)
    assert reader.run(run_id) is not None


def test_that_a_run_that_is_not_there_is_refused_with_a_sentence(writer):
    for call in (writer.move_to_bin, writer.restore_run, lambda run_id: writer.set_tags(run_id, ("a",))):
        with pytest.raises(StoreError, match="Run 7 is not in"):
            call(7)


def test_that_an_emptied_bin_leaves_nothing_of_a_run_and_everything_of_the_others(path, writer, reader):
    kept = add_run(writer)
    before = counts(path)
    gone = add_run(writer, name="away", shared=True)
    child = writer.create_run(new_run(name="branch", parent_run_id=gone, parent_step=2))
    writer.emit(TrainerStatus(child, RunStatus.STOPPED, 2))
    assert writer.flush()
    snapshot = reader.snapshots(gone)[0].id
    writer.rate_pair(PairRating(PairRef(gone, snapshot, None), "Which?", 3, "a", "b", True, "first"))
    folder = run_files_dir(path, gone)
    (folder / "snapshots").mkdir(parents=True)
    (folder / "snapshots" / "weights").write_text("1")
    other = run_files_dir(path, kept)
    other.mkdir(parents=True)
    writer.move_to_bin(gone)
    told = []
    result = empty(writer, path, progress=lambda done, total: told.append((done, total)))
    assert result == Emptied(1, 0)
    assert told[-1] == (24, 24)
    assert not folder.exists()
    assert other.exists()
    after = counts(path)
    assert after.pop("runs") == before.pop("runs") + 1  # the branch
    assert after.pop("run_starts", 0) >= before.pop("run_starts", 0)
    assert {table: after[table] for table in before} == before
    assert reader.run(child).parent_run_id is None
    assert reader.count(CompletionQuery(kept)) == (24, 6)
    assert broken_links(path) == []


def test_that_prompts_are_deleted_with_their_last_group_only(path, writer, reader):
    first, second = add_run(writer, steps=1), add_run(writer, steps=1, name="second")
    prompts = counts(path)["prompts"]
    writer.move_to_bin(second)
    empty(writer, path)
    assert counts(path)["prompts"] == prompts - 1  # "Shared?" is still needed
    writer.move_to_bin(first)
    empty(writer, path)
    assert counts(path)["prompts"] == 0


def test_that_ratings_go_with_the_run_that_they_are_about(path, writer):
    run_id = add_run(writer)
    before = {name: value for name, value in counts(path).items() if not name.startswith("sqlite")}
    place, scores = GroupRef(run_id, 1, 0), (5.0, 1.0, None, 2.0)
    writer.rate_group(RatingEvent(place, "me", "scores", scores, (0, 1, 2, 3), 1.0, None, 2.0))
    assert counts(path)["ratings"] == before["ratings"] + 1
    writer.move_to_bin(run_id)
    empty(writer, path)
    after = counts(path)
    assert not any(after[table] for table in RunTablesOf(path).names)


class RunTablesOf(RunTables):
    def __init__(self, path):
        connection = sqlite3.connect(path)
        super().__init__(connection)
        connection.close()


def test_that_a_cancelled_deletion_goes_on_the_next_time_and_is_not_taken_back(path, writer, reader, monkeypatch):
    monkeypatch.setattr(shelf_writes, "GROUPS_AT_ONCE", 1)
    run_id = add_run(writer)
    writer.move_to_bin(run_id)
    pieces = []
    result = empty(writer, path, progress=lambda *_: pieces.append(1), cancelled=lambda: len(pieces) >= 2)
    assert result == Emptied(0, 1)
    assert [run.unfinished for run in reader.binned_runs()] == [True]
    with pytest.raises(StoreError, match="cannot be taken back"):
        writer.restore_run(run_id)
    assert 0 < counts(path)["groups"] < 6
    assert empty(writer, path) == Emptied(1, 0)
    assert counts(path)["groups"] == counts(path)["runs"] == 0


def test_that_events_are_written_between_the_pieces_of_a_deletion(path, writer, reader, monkeypatch):
    monkeypatch.setattr(shelf_writes, "GROUPS_AT_ONCE", 1)
    gone, training = add_run(writer), add_run(writer, name="training", status=RunStatus.RUNNING)
    writer.move_to_bin(gone)
    seen = []

    def progress(done, _):
        writer.emit(step(training, 4 + len(seen)))
        assert writer.flush()
        seen.append((done, reader.newest_step(training)))

    empty(writer, path, progress=progress)
    assert [newest for _, newest in seen[:3]] == [4, 5, 6]
    assert broken_links(path) == []


@pytest.mark.skipif(os.name != "posix", reason="processes are killed the POSIX way")
def test_that_a_deletion_that_was_killed_is_finished_later_and_the_others_are_whole(path, writer):
    kept, gone = add_run(writer), add_run(writer, steps=5, name="away")
    writer.move_to_bin(gone)
    writer.close()
    code = f"""
        import os, signal
        from pathlib import Path
        from grpo_gui.store import shelf_writes
        from grpo_gui.store.emptying import empty_bin
        from grpo_gui.store.reader import StoreReader
        from grpo_gui.store.writer import StoreWriter
        shelf_writes.GROUPS_AT_ONCE = 2
        path = Path({str(path)!r})
        writer = StoreWriter.open(path)
        with StoreReader(path) as reader:
            runs = reader.binned_runs()
        pieces = []
        def progress(done, total):
            pieces.append(done)
            if len(pieces) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        empty_bin(writer, path, runs, progress)
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, timeout=60)
    assert result.returncode == -signal.SIGKILL
    again = StoreWriter.open(path)
    try:
        with StoreReader(path) as reader:
            assert [run.id for run in reader.runs()] == [kept]
            (left,) = reader.binned_runs()
            assert (left.id, left.unfinished) == (gone, True)
            assert reader.count(CompletionQuery(kept)) == (24, 6)
        assert broken_links(path) == []
        assert empty(again, path) == Emptied(1, 0)
        assert counts(path)["runs"] == 1
    finally:
        again.close()


def test_that_every_table_with_something_of_a_run_is_found_by_its_links(path, writer):
    tables = RunTablesOf(path)
    assert {"completions", "completion_tokens", "rewards", "points", "steps", "findings", "ratings"} <= set(
        tables.names
    )
    assert "prompts" not in tables.names
    assert tables.condition("points", ROOT, OF_RUN) == "series_id IN (SELECT id FROM main.series WHERE run_id = :run)"
    below = tables.below("groups")
    assert below.index("completion_tokens") < below.index("completions")
    # What belongs to a run without a declared link would stay behind when it is deleted.
    connection = sqlite3.connect(path)
    columns = {
        table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    }
    connection.close()
    loose = {table for table, names in columns.items() if names & {"run_id", "group_id", "completion_id", "series_id"}}
    assert loose <= set(tables.names)


def test_that_a_sparkline_is_the_mean_over_equal_spans_of_steps(writer, reader):
    run_id = writer.create_run(new_run())
    for number, value in enumerate((1.0, 3.0, float("nan"), 5.0), start=0):
        writer.emit(step(run_id, number + 1, groups=(), metrics=(("reward", value),)))
    assert writer.flush()
    values = reader.sparkline(run_id, "reward", 3).values.tolist()  # steps 0 to 4 in spans of 5/3
    assert values[:2] == [1.0, 3.0]
    assert values[2] == 5.0  # the mean of NaN and 5
    assert len(reader.sparkline(run_id, "kl", 3).values) == 0


def test_that_prompts_that_runs_share_are_found_with_the_nearest_group(writer, reader):
    first, second = add_run(writer), add_run(writer, name="second")
    third = add_run(writer, name="third", shared=False)
    shared = reader.shared_prompts((first, second, third))
    assert shared[0].prompt == "Shared?"
    assert dict(shared[0].steps) == {first: 3, second: 3}
    assert reader.group_of_prompt(first, "Shared?", 2).ref.step == 2
    assert reader.group_of_prompt(first, "Shared?", 99).ref.step == 3
    assert reader.group_of_prompt(third, "Shared?", 2) is None


def test_that_the_best_and_the_worst_groups_come_first(writer, reader):
    run_id = add_run(writer)
    best, worst = reader.ranked_groups(run_id, 6, best=True), reader.ranked_groups(run_id, 6, best=False)
    means = [one.mean_reward for one in best]
    assert means == sorted(means, reverse=True)
    assert [one.mean_reward for one in worst] == sorted(means)
    assert len(best) == 6
