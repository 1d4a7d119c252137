import json
import queue
from dataclasses import replace

import pytest

from grpo_gui.diagnose.codec import finding_from_json
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.errors import BadInputError
from grpo_gui.events import EvalCompleted, RunFailed, RunStarted, StepCompleted
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training import diagnosing
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.diagnosing import (
    RunDiagnosis,
    diagnose_run,
    facts_of_run,
    feed_event,
    feed_stored,
    finding_records,
)
from grpo_gui.training.trainer import Trainer
from grpo_gui.training.validation import config_to_json
from tests.training.fakes import tiny_config

CONSTANT = (RewardSpec("always", "regex", 1.0, ".*"),)


class Recorder:
    """A sink that stores events and keeps them."""

    def __init__(self, writer):
        self.writer = writer
        self.events = []

    def emit(self, event):
        self.writer.emit(event)
        self.events.append(event)

    def congestion(self):
        return None

    def flush(self, timeout_s):
        return self.writer.flush(timeout_s)

    def write_ms(self):
        return self.writer.write_ms()


@pytest.fixture(scope="module")
def trained(tmp_path_factory, tiny_model):
    """A short run with a constant reward: its database, its id and its events."""
    folder = tmp_path_factory.mktemp("diagnosing")
    config = tiny_config(tiny_model, steps=30, rewards=CONSTANT, eval_steps=10, eval_prompts=4)
    writer = StoreWriter.open(folder / "a.db")
    run_id = writer.create_run(
        NewRun(name="broken", task=config.task, config=config_to_json(config), seed=0, device="cpu")
    )
    sink = Recorder(writer)
    Trainer(config, run_id, sink, queue.SimpleQueue(), folder / "state").run()
    writer.close()
    return folder / "a.db", run_id, sink.events


def fed_live(path, run_id, events):
    with StoreReader(path) as reader:
        diagnosis = Diagnosis(facts_of_run(reader.run(run_id)))
    for event in events:
        feed_event(diagnosis, event)
    return diagnosis


def test_that_a_stored_run_has_the_findings_of_the_live_one(trained):
    path, run_id, events = trained
    live = fed_live(path, run_id, events)
    with StoreReader(path) as reader:
        stored = diagnose_run(reader, run_id)
    assert stored.findings == live.findings
    assert "constant_reward" in {finding.detector for finding in stored.findings if finding.is_finding}
    assert stored.history.names() != ()
    for name in stored.history.names():
        assert stored.history.values(name).tolist() == live.history.values(name).tolist(), name


def test_that_a_window_opened_in_the_middle_ends_alike(trained):
    path, run_id, events = trained
    live = fed_live(path, run_id, events)
    with StoreReader(path) as reader:
        run = reader.run(run_id)
        half = Diagnosis(facts_of_run(run))
        for row in reader.diagnosis_steps(run_id):
            if row.step <= 15:
                feed_stored(half, row)
    for event in events:
        if isinstance(event, StepCompleted | EvalCompleted) and event.step > 15:
            feed_event(half, event)
    assert half.findings == live.findings


def test_that_reading_what_is_new_ends_like_reading_all(tmp_path, trained):
    source, run_id, events = trained
    with StoreReader(source) as reader:
        config = reader.run(run_id).config
        whole = diagnose_run(reader, run_id)
    writer = StoreWriter.open(tmp_path / "b.db")
    new_id = writer.create_run(NewRun(name="again", task="sort", config=config, seed=0, device="cpu"))
    following = RunDiagnosis(new_id)
    said = []
    with StoreReader(tmp_path / "b.db") as reader:
        for number, event in enumerate(events):
            writer.emit(replace(event, run_id=new_id))
            if number % 3 == 0:
                assert writer.flush()
                said += [finding.detector for finding in following.update(reader)]
        assert writer.flush()
        said += [finding.detector for finding in following.update(reader)]
        assert following.update(reader) == ()
    writer.close()
    assert following.diagnosis.findings == whole.findings
    for name in ("eval/accuracy", "reward", "measure/constant_reward"):
        assert following.diagnosis.history.steps(name).tolist() == whole.history.steps(name).tolist()
    assert "constant_reward" in said


def test_that_a_run_that_is_taken_up_again_is_read_anew(tmp_path, trained):
    source, run_id, events = trained
    with StoreReader(source) as reader:
        config = reader.run(run_id).config
    writer = StoreWriter.open(tmp_path / "b.db")
    new_id = writer.create_run(NewRun(name="again", task="sort", config=config, seed=0, device="cpu"))
    steps = [replace(event, run_id=new_id) for event in events if isinstance(event, StepCompleted)]
    following = RunDiagnosis(new_id)
    with StoreReader(tmp_path / "b.db") as reader:
        for part in (
            [RunStarted(new_id, 0, "cpu", 1, ()), *steps[:20]],
            [RunStarted(new_id, 10, "cpu", 1, ()), *steps[10:]],
        ):
            for event in part:
                writer.emit(event)
            assert writer.flush()
            following.update(reader)
        once = diagnose_run(reader, new_id)
    writer.close()
    assert following.diagnosis.history.rows == len(steps)
    assert following.diagnosis.findings == once.findings


def test_that_findings_are_kept_with_everything_in_them(trained):
    path, run_id, _ = trained
    with StoreReader(path) as reader:
        diagnosis = diagnose_run(reader, run_id)
    writer = StoreWriter.open(path)
    writer.save_findings(run_id, finding_records(diagnosis))
    writer.close()
    with StoreReader(path) as reader:
        stored = reader.findings(run_id)
    assert tuple(finding_from_json(record.document) for record in stored) == diagnosis.findings
    assert stored[0].headline == "The reward “always” is 1 for every answer."
    assert stored[0].state == "open"


def test_that_a_failure_by_numbers_is_a_finding(trained):
    path, run_id, _ = trained
    diagnosis = fed_live(path, run_id, [])
    feed_event(diagnosis, RunFailed(run_id, 3, "The loss of completion 1 ('x') to prompt 1 ('y') is not finite.", ""))
    assert [finding.detector for finding in diagnosis.findings] == ["not_finite"]


def test_that_a_run_that_is_not_there_is_bad_input(trained):
    path, _, _ = trained
    with StoreReader(path) as reader, pytest.raises(BadInputError, match="no run 77"):
        diagnose_run(reader, 77)


@pytest.mark.parametrize("config", ["", "not json", "[]", json.dumps({"num_generations": "x"})])
def test_that_a_config_of_another_program_leaves_the_facts_unknown(trained, config):
    path, run_id, _ = trained
    with StoreReader(path) as reader:
        run = reader.run(run_id)
    assert facts_of_run(replace(run, config=config)).num_generations is None


def test_that_events_which_follow_on_each_other_spare_the_reading(tmp_path, trained, monkeypatch):
    source, run_id, events = trained
    with StoreReader(source) as reader:
        whole, config = diagnose_run(reader, run_id), reader.run(run_id).config
    writer = StoreWriter.open(tmp_path / "b.db")
    new_id = writer.create_run(NewRun(name="again", task="sort", config=config, seed=0, device="cpu"))
    following = RunDiagnosis(new_id)
    fed = []
    feed = diagnosing.feed_stored
    monkeypatch.setattr(diagnosing, "feed_stored", lambda diagnosis, row: fed.append(row.step) or feed(diagnosis, row))
    with StoreReader(tmp_path / "b.db") as reader:
        waiting = []
        for number, event in enumerate(events):
            event = replace(event, run_id=new_id)
            writer.emit(event)
            is_dropped = isinstance(event, StepCompleted) and event.step in (12, 13)
            waiting += [] if is_dropped else [event]
            if number % 4 == 3:
                assert writer.flush()
                following.update(reader, waiting)
                waiting = waiting[-1:]  # one comes twice
        assert writer.flush()
        following.update(reader, waiting)
    writer.close()
    assert following.diagnosis.findings == whole.findings
    assert following.diagnosis.history.names() == whole.history.names()
    for name in whole.history.names():
        assert following.diagnosis.history.values(name).tolist() == whole.history.values(name).tolist(), name
    assert {12, 13} <= set(fed)
    assert len(fed) < 15


def test_that_an_evaluation_is_not_missed_that_reached_the_disk_after_its_step_was_read(tmp_path, trained):
    source, run_id, events = trained
    with StoreReader(source) as reader:
        config = reader.run(run_id).config
    writer = StoreWriter.open(tmp_path / "b.db")
    new_id = writer.create_run(NewRun(name="again", task="sort", config=config, seed=0, device="cpu"))
    following = RunDiagnosis(new_id)
    steps = [replace(event, run_id=new_id) for event in events if isinstance(event, StepCompleted)]
    late = next(
        replace(event, run_id=new_id) for event in events if isinstance(event, EvalCompleted) and event.step == 10
    )
    with StoreReader(tmp_path / "b.db") as reader:
        for event in steps[:10]:
            writer.emit(event)
        assert writer.flush()
        following.update(reader, [steps[9], late])
        writer.emit(late)
        writer.emit(steps[10])
        assert writer.flush()
        following.update(reader, [steps[10]])
    writer.close()
    assert following.diagnosis.history.step == 11
    assert following.diagnosis.history.steps("eval/accuracy").tolist() == [10]
