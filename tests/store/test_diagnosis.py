import json

import pytest

from grpo_gui.events import EvalCompleted
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records_diagnosis import FindingRecord
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step


@pytest.fixture
def store(tmp_path):
    writer = StoreWriter.open(tmp_path / "a.db")
    yield writer
    writer.close()


def finding(detector="dead_groups", **changes):
    values = {
        "detector": detector,
        "title": "Dead groups",
        "severity": "warning",
        "state": "open",
        "root": "",
        "onset": 3,
        "noticed": 7,
        "headline": "“62 %” of the groups taught nothing.",
        "detail": "A detail.",
        "action": "Sample more answers.",
        "document": json.dumps({"value": 0.62}),
    }
    return FindingRecord(**(values | changes))


def test_that_findings_come_back_in_their_order(store):
    run_id = store.create_run(new_run())
    saved = (finding("truncation", severity="severe"), finding(), finding("small_batch", root="dead_groups"))
    store.save_findings(run_id, saved)
    with StoreReader(store.path) as reader:
        assert reader.findings(run_id) == saved
        assert reader.findings(run_id + 1) == ()


def test_that_saving_replaces_what_was_saved(store):
    run_id, other = store.create_run(new_run()), store.create_run(new_run())
    store.save_findings(run_id, (finding(), finding("truncation")))
    store.save_findings(other, (finding(),))
    store.save_findings(run_id, (finding(state="closed"),))
    with StoreReader(store.path) as reader:
        assert reader.findings(run_id) == (finding(state="closed"),)
        assert reader.findings(other) == (finding(),)


def test_that_a_mute_holds_for_one_run_until_it_is_lifted(store):
    run_id, other = store.create_run(new_run()), store.create_run(new_run())
    store.mute_finding(run_id, "dead_groups")
    store.mute_finding(run_id, "dead_groups")
    store.mute_finding(run_id, "truncation")
    store.mute_finding(run_id, "truncation", muted=False)
    with StoreReader(store.path) as reader:
        assert reader.muted_findings(run_id) == {"dead_groups"}
        assert reader.muted_findings(other) == frozenset()


def test_that_steps_come_back_with_metrics_evaluations_and_samples(store):
    run_id = store.create_run(new_run())
    store.emit(EvalCompleted(run_id, 0, 1e9, (("eval/accuracy", 0.5),)))
    abstained = completion(1, "b", reward=None, rewards=(("exact", None),))
    event = step(run_id, 1, groups=(group(0, completions=(completion(0, "a"), abstained)),), metrics=(("reward", 0.5),))
    store.emit(event)
    store.emit(EvalCompleted(run_id, 1, 1e9, (("eval/accuracy", 0.75),)))
    assert store.flush()
    with StoreReader(store.path) as reader:
        before, after = reader.diagnosis_steps(run_id)
    assert (before.step, before.metrics, before.groups) == (0, {"eval/accuracy": 0.5}, ())
    assert (after.step, after.metrics) == (1, {"reward": 0.5, "eval/accuracy": 0.75})
    (stored,) = after.groups
    assert (stored.index, stored.prompt) == (0, event.groups[0].prompt)
    for found, expected in zip(stored.completions, event.groups[0].completions, strict=True):
        for name in ("text", "token_ids", "truncated", "correct", "reward", "rewards", "advantage", "old_logps"):
            assert getattr(found, name) == getattr(expected, name)
        assert (found.old_logps, found.logps, found.ref_logps) == (
            expected.old_logps,
            expected.logps,
            expected.ref_logps,
        )


def test_that_a_long_run_is_read_in_parts_and_from_any_step(store):
    run_id = store.create_run(new_run())
    for number in range(1, 121):
        store.emit(step(run_id, number))
    assert store.flush()
    with StoreReader(store.path) as reader:
        assert [row.step for row in reader.diagnosis_steps(run_id)] == list(range(1, 121))
        assert [row.step for row in reader.diagnosis_steps(run_id, after_step=117)] == [118, 119, 120]


def test_that_superseded_steps_are_left_out(store):
    run_id = store.create_run(new_run())
    for number in (1, 2, 3, 2):
        store.emit(step(run_id, number))
    assert store.flush()
    with StoreReader(store.path) as reader:
        rows = list(reader.diagnosis_steps(run_id))
    assert [row.step for row in rows] == [1, 2]
    assert len(rows[1].groups) == len(step(run_id, 2).groups)
