"""The worker of the Snapshots view, with real models in its thread."""

import pytest

from grpo_gui.app.snapshot_engine import SnapshotWorker
from grpo_gui.snapshots.verifying import verify
from grpo_gui.ui.snapshot_engine import Match, Question
from tests.snapshots.samples import make_snapshot
from tests.training.fakes import make_tiny_model, tiny_config


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture
def worker(qapp):
    result = SnapshotWorker(lambda: 1)
    yield result
    result.close()


def test_that_a_question_is_answered_and_a_bad_one_is_a_sentence(worker, qtbot):
    answers, failures = [], []
    worker.ask(Question("builtin", "9.11 or 9.9?", 1.0, 8, 1, "cpu"), answers.append, failures.append)
    worker.ask(Question("builtin", "x" * 600, 1.0, 8, 1, "cpu"), answers.append, failures.append)
    qtbot.waitUntil(lambda: len(answers) == len(failures) == 1, timeout=60_000)
    assert answers[0].tokens > 0
    assert "exceeds" in failures[0].message
    assert failures[0].traceback == ""


def test_that_a_comparison_tells_its_progress_and_its_result(worker, tiny_model, qtbot):
    told, results = [], []
    match = Match("builtin", str(tiny_model), tiny_config(tiny_model), 40, 0)
    worker.compare(match, lambda done, total: told.append((done, total)), results.append, results.append)
    qtbot.waitUntil(lambda: len(results) == 1, timeout=60_000)
    assert len(results[0].pairs) == 40
    assert told[-1] == (80, 80)


def test_that_a_cancelled_comparison_has_no_result(worker, tiny_model, qtbot):
    results = []
    match = Match("builtin", str(tiny_model), tiny_config(tiny_model), 500, 0)
    cancel = worker.compare(match, lambda done, total: None, results.append, results.append)
    cancel()
    qtbot.waitUntil(lambda: results == [None], timeout=60_000)


def test_that_a_snapshot_is_exported(worker, tiny_model, tmp_path, qtbot):
    snapshot = make_snapshot(tmp_path / "a", tiny_model).path
    done, failures = [], []
    worker.export(snapshot, tmp_path / "out", "bf16", done.append, failures.append)
    worker.export(snapshot, tmp_path / "out", "bf16", done.append, failures.append)
    qtbot.waitUntil(lambda: len(done) == len(failures) == 1, timeout=60_000)
    assert verify(done[0]).step == 50
    assert "not overwritten" in failures[0].message


def test_that_closing_breaks_off_what_is_under_way(qapp, tiny_model):
    worker = SnapshotWorker(lambda: 1)
    match = Match("builtin", str(tiny_model), tiny_config(tiny_model), 500, 0)
    worker.compare(match, lambda done, total: None, lambda result: None, lambda failure: None)
    worker.close()
    assert all(stop.is_set() for stop in worker._stops)
