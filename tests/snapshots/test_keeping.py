import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_gui.errors import SnapshotError
from grpo_gui.snapshots.keeping import (
    KeepRule,
    Kept,
    best,
    is_pinned,
    most_kept,
    next_to_go,
    read_rule,
    set_pinned,
    to_remove,
    write_rule,
)
from grpo_gui.snapshots.manifest import MANIFEST
from grpo_gui.snapshots.shelf import apply_rule, list_snapshots, sweep
from tests.snapshots.samples import make_snapshot


def kept(step, held_out=math.nan, *, pinned=False):
    return Kept(Path(f"step-{step}"), step, float(step), held_out, pinned)


def steps(snapshots):
    return [snapshot.step for snapshot in snapshots]


def test_that_the_last_ones_the_best_and_the_pinned_stay():
    run = [kept(10, 0.9), kept(20, 0.3), kept(30, 0.4, pinned=True), kept(40, 0.5), kept(50, 0.6), kept(60, 0.7)]
    assert steps(to_remove(run, KeepRule(2))) == [20, 40]
    assert steps(to_remove(run, KeepRule(4))) == []
    assert next_to_go(run, KeepRule(4)).step == 20
    assert next_to_go(run, KeepRule(5)) is None
    assert to_remove(run, KeepRule(0)) == []
    assert next_to_go(run, KeepRule(0)) is None


def test_that_superseded_snapshots_go_first_and_are_never_the_best():
    run = [kept(10, 0.4), kept(20, 0.3), replace(kept(30, 0.9), superseded=True), kept(25, 0.2)]
    assert best(run).step == 10
    assert steps(to_remove(run, KeepRule(2))) == [30]
    assert next_to_go(run, KeepRule(3)).step == 30


def test_that_of_equally_good_snapshots_the_earliest_is_the_best():
    assert best([kept(10, 0.5), kept(20, 0.7), kept(30, 0.7)]).step == 20
    assert best([kept(10), kept(20)]) is None


rewards = st.lists(st.tuples(st.one_of(st.just(math.nan), st.floats(0, 1)), st.booleans()), max_size=12)


@given(rewards, st.integers(0, 5))
def test_that_the_rule_keeps_what_it_promises(run, last):
    snapshots = [kept(step, held_out, pinned=pinned) for step, (held_out, pinned) in enumerate(run)]
    removed = to_remove(snapshots, KeepRule(last))
    left = [snapshot for snapshot in snapshots if snapshot not in removed]
    assert not any(snapshot.pinned or snapshot is best(snapshots) for snapshot in removed)
    assert all(snapshot in left for snapshot in (snapshots[-last:] if last else snapshots))
    if last:
        assert len(left) <= most_kept(KeepRule(last), sum(snapshot.pinned for snapshot in snapshots))
    assert to_remove(left, KeepRule(last)) == []
    going = next_to_go(left, KeepRule(last))
    more = [*left, kept(100)]
    assert to_remove(more, KeepRule(last)) == ([going] if going else [])


def test_that_the_rule_is_kept_beside_the_snapshots(tmp_path):
    folder = tmp_path / "snapshots"
    assert read_rule(folder, KeepRule(7)) == KeepRule(7)
    write_rule(folder, KeepRule(2))
    assert read_rule(folder, KeepRule(7)) == KeepRule(2)
    (folder / "keep.json").write_text('{"last": -1}')
    assert read_rule(folder, KeepRule(7)) == KeepRule(7)
    (folder / "keep.json").write_text("oops")
    assert read_rule(folder, KeepRule(7)) == KeepRule(7)


def test_that_the_rule_removes_folders_and_leaves_pinned_ones(tmp_path, tiny_model):
    for step in (10, 20, 30, 40):
        make_snapshot(tmp_path / f"step-{step}", tiny_model, step=step, created_s=float(step), metrics={})
    set_pinned(tmp_path / "step-10", True)
    assert [gone.path.name for gone in apply_rule(tmp_path, KeepRule(1))] == ["step-20", "step-30"]
    assert [(item.step, item.pinned) for item in list_snapshots(tmp_path)] == [(10, True), (40, False)]
    set_pinned(tmp_path / "step-10", False)
    assert not is_pinned(tmp_path / "step-10")
    assert [gone.path.name for gone in apply_rule(tmp_path, KeepRule(1))] == ["step-10"]


def test_that_a_damaged_snapshot_is_never_removed_by_the_rule(tmp_path, tiny_model):
    for step in (10, 20):
        make_snapshot(tmp_path / f"step-{step}", tiny_model, step=step, metrics={})
    (tmp_path / "step-10" / MANIFEST).write_text("{")
    assert apply_rule(tmp_path, KeepRule(1)) == []
    assert (tmp_path / "step-10").is_dir()


def test_that_pinning_what_is_gone_is_a_sentence(tmp_path):
    with pytest.raises(SnapshotError, match="cannot be pinned"):
        set_pinned(tmp_path / "gone", True)


def test_that_what_a_killed_trainer_left_is_swept_away(tmp_path, tiny_model):
    (tmp_path / ".step-000010.part-99").mkdir()
    make_snapshot(tmp_path / "step-000020", tiny_model)
    assert steps(list_snapshots(tmp_path)) == [50]
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000020"]
