import math

import pytest

from grpo_gui.errors import StoreError
from grpo_gui.events import RunStarted, RunStatus, SnapshotRemoved, SnapshotSaved, TrainerStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_snapshots import PairRating, PairRef
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import new_run, step
from tests.store.test_migrations import unpack


@pytest.fixture
def writer(tmp_path):
    writer = StoreWriter.open(tmp_path / "a.db")
    yield writer
    writer.close()


@pytest.fixture
def run_id(writer):
    run_id = writer.create_run(new_run())
    started(writer, run_id, 0)
    return run_id


def started(writer, run_id, at):
    writer.emit(RunStarted(run_id, at, "cpu", 1000, (("torch", "2"),)))
    writer.emit(TrainerStatus(run_id, RunStatus.RUNNING, at))


def saved(run_id, at, reason="every", **changes):
    values = {
        "run_id": run_id,
        "step": at,
        "time_s": 1e9 + at,
        "path": f"/files/step-{at:06d}",
        "reason": reason,
        "has_training_state": True,
        "size_bytes": 100 + at,
        "sha256": f"hash{at}",
        "metrics": (("reward", 0.5), ("kl", math.inf)),
    }
    return SnapshotSaved(**(values | changes))


def ask(writer, question):
    assert writer.flush()
    with StoreReader(writer.path) as reader:
        return question(reader)


def test_that_every_field_of_a_snapshot_comes_back(writer, run_id):
    writer.emit(saved(run_id, 10, "best", has_training_state=False))
    (snapshot,) = ask(writer, lambda reader: reader.snapshots(run_id))
    assert (snapshot.run_id, snapshot.step, snapshot.path, snapshot.reason) == (
        run_id,
        10,
        "/files/step-000010",
        "best",
    )
    assert (snapshot.created_s, snapshot.has_training_state, snapshot.size_bytes) == (1e9 + 10, False, 110)
    assert (snapshot.sha256, snapshot.superseded, snapshot.metrics["reward"]) == ("hash10", False, 0.5)
    assert math.isnan(snapshot.metrics["kl"])


def test_that_removed_snapshots_are_not_listed(writer, run_id):
    for at in (10, 20, 30):
        writer.emit(saved(run_id, at))
    writer.emit(SnapshotRemoved(run_id, 10, "/files/step-000010"))
    listed = ask(writer, lambda reader: reader.snapshots(run_id))
    assert [snapshot.step for snapshot in listed] == [30, 20]
    writer.remove_snapshot(listed[0].id)
    assert [snapshot.step for snapshot in ask(writer, lambda reader: reader.snapshots(run_id))] == [20]


def test_that_the_run_whose_snapshot_is_newest_is_found(writer, run_id):
    assert ask(writer, lambda reader: reader.newest_run_with_snapshots()) is None
    other = writer.create_run(new_run())
    writer.emit(saved(run_id, 10, time_s=2e9))
    writer.emit(saved(other, 20, time_s=1e9))
    assert ask(writer, lambda reader: reader.newest_run_with_snapshots()) == run_id


def test_that_a_resume_leaves_a_seam_and_supersedes_what_came_after(writer, run_id):
    for at in range(1, 7):
        writer.emit(step(run_id, at))
        writer.emit(saved(run_id, at))
    started(writer, run_id, 4)
    writer.emit(step(run_id, 5, metrics=(("reward", 0.9),)))
    writer.emit(saved(run_id, 5, path="/files/step-000005-2"))
    assert [seam.step for seam in ask(writer, lambda reader: reader.seams(run_id))] == [4]
    listed = ask(writer, lambda reader: reader.snapshots(run_id))
    assert [(item.step, item.superseded) for item in listed] == [
        (5, False),
        (4, False),
        (3, False),
        (2, False),
        (1, False),
        (6, True),
        (5, True),
    ]
    assert ask(writer, lambda reader: reader.points(run_id, "reward")).steps.tolist() == [1, 2, 3, 4, 5]
    (old,) = ask(writer, lambda reader: reader.superseded_points(run_id, "reward"))
    assert (old.steps.tolist(), old.values.tolist()) == ([5, 6], [0.05, 0.06])


def test_that_a_seam_inside_what_was_replaced_goes_with_it(writer, run_id):
    for at in range(1, 7):
        writer.emit(step(run_id, at))
    started(writer, run_id, 6)
    writer.emit(step(run_id, 7))
    started(writer, run_id, 2)
    assert [seam.step for seam in ask(writer, lambda reader: reader.seams(run_id))] == [2]


def test_that_a_run_begun_anew_has_no_seam(writer, run_id):
    writer.emit(step(run_id, 1))
    started(writer, run_id, 0)
    assert ask(writer, lambda reader: reader.seams(run_id)) == ()


def test_that_a_branch_begins_where_it_leaves_its_parent(writer, run_id):
    branch = writer.create_run(new_run(parent_run_id=run_id, parent_step=4))
    run = ask(writer, lambda reader: reader.run(branch))
    assert (run.parent_run_id, run.parent_step, run.steps_done) == (run_id, 4, 4)
    started(writer, branch, 4)
    writer.emit(step(branch, 5))
    assert ask(writer, lambda reader: reader.points(branch, "reward")).steps.tolist() == [5]
    assert ask(writer, lambda reader: reader.seams(branch)) == ()


def test_that_a_run_can_be_given_more_steps(writer, run_id):
    writer.replace_config(run_id, '{"steps": 20}')
    assert ask(writer, lambda reader: reader.run(run_id)).config == '{"steps": 20}'
    with pytest.raises(StoreError, match="Run 99 is not in the database"):
        writer.replace_config(99, "{}")


def test_that_ratings_of_a_pair_come_back_in_order_and_can_be_taken_back(writer, run_id):
    writer.emit(saved(run_id, 10))
    (snapshot,) = ask(writer, lambda reader: reader.snapshots(run_id))
    pair = PairRef(run_id, snapshot.id, None)
    first = PairRating(pair, "NUL \0?", 14, "9.9", "\ud800", True, "first")
    second = PairRating(pair, "Which?", 14, "1", "2", False, "equal")
    one = writer.rate_pair(first)
    two = writer.rate_pair(second)
    writer.rate_pair(PairRating(PairRef(run_id, None, snapshot.id), "other way round", 1, "", "", True, "second"))
    assert ask(writer, lambda reader: reader.pair_ratings(pair)) == ((one, first), (two, second))
    writer.undo_rating(two)
    assert ask(writer, lambda reader: reader.pair_ratings(pair)) == ((one, first),)


def test_that_an_old_run_gets_a_seam_when_it_is_resumed_after_the_migration(tmp_path):
    unpack(1, tmp_path / "a.db")
    writer = StoreWriter.open(tmp_path / "a.db")
    started(writer, 1, 3)
    assert [seam.step for seam in ask(writer, lambda reader: reader.seams(1))] == [3]
    writer.close()


def test_that_the_fixture_of_schema_2_has_its_snapshot_and_its_rating(tmp_path):
    unpack(2, tmp_path / "a.db")
    writer = StoreWriter.open(tmp_path / "a.db")
    (snapshot,) = ask(writer, lambda reader: reader.snapshots(1))
    assert (snapshot.step, snapshot.path, snapshot.metrics) == (4, "/old/step-000004", {"reward": 0.5})
    ((_, rating),) = ask(writer, lambda reader: reader.pair_ratings(PairRef(1, snapshot.id, None)))
    assert (rating.first_text, rating.choice) == ("9.9", "first")
    writer.close()


def test_that_what_was_measured_of_a_snapshot_is_a_series_of_its_run(writer, run_id):
    writer.emit(saved(run_id, 10, measures=(("snapshot/size_gb", 0.25), ("snapshot/reload_error", 0.0))))
    points = ask(writer, lambda reader: reader.points(run_id, "snapshot/size_gb"))
    assert (points.steps.tolist(), points.values.tolist()) == ([10], [0.25])
    assert "snapshot/reload_error" in ask(writer, lambda reader: reader.series_names(run_id))
