"""The diagnosis of a run without a window: late by a second at most, and complete at the end."""

from types import SimpleNamespace

import pytest

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.events import StepCompleted
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training import live_diagnosis
from grpo_gui.training.diagnosing import RunDiagnosis, diagnose_run, facts_of_run, finding_records
from grpo_gui.training.live_diagnosis import LiveDiagnosis
from tests.ui.broken_run import broken_steps, hard_steps

OURS = '{"num_generations": 4, "prompts_per_step": 4}'
WRONG = (("check/first_ratio", 0.5),)


def step(number, metrics=()):
    return StepCompleted(1, number, number, 0.0, tuple(metrics), ())


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(s=100.0)
    monkeypatch.setattr(live_diagnosis, "time", SimpleNamespace(monotonic=lambda: now.s))
    return now


def test_that_steps_within_a_second_are_looked_at_together(clock):
    said = []
    live = LiveDiagnosis(Diagnosis(RunFacts()), said.append)
    live.take(step(1))
    clock.s += 0.5
    live.take(step(2, WRONG))
    assert said == []
    clock.s += 0.6
    live.take(step(3))
    assert [(one.detector, one.onset) for one in said] == [("fresh_ratio", 2)]
    assert live.diagnosis.history.step == 3


def test_that_nothing_is_left_out_at_the_end(clock):
    said = []
    live = LiveDiagnosis(Diagnosis(RunFacts()), said.append)
    live.take(step(1))
    live.take(step(2, WRONG))
    (record,) = live.records()
    assert (record.detector, record.onset) == ("fresh_ratio", 2)
    assert [one.detector for one in said] == ["fresh_ratio"]


def test_that_a_bug_in_the_diagnosis_ends_it_and_not_the_run(clock, caplog):
    live = LiveDiagnosis(Diagnosis(RunFacts()), lambda finding: None)
    live.diagnosis.feed_step = lambda *given: 1 / 0
    live.take(step(1))
    live.take(step(2))
    assert live.records() == ()
    assert len([one for one in caplog.records if "has failed" in one.message]) == 1


@pytest.mark.parametrize("config", [OURS, "settings of another program"])
@pytest.mark.parametrize("events", [hard_steps, broken_steps])
def test_that_events_followed_steps_and_one_pass_have_the_same_findings(tmp_path, events, config):
    writer = StoreWriter.open(tmp_path / "a.db")
    run_id = writer.create_run(NewRun("run", "compare", config, 0, "cpu"))
    said = []
    followed = RunDiagnosis(run_id)
    with StoreReader(tmp_path / "a.db") as reader:
        live = LiveDiagnosis(Diagnosis(facts_of_run(reader.run(run_id))), said.append)
        for place, event in enumerate(events(run_id)):
            live.take(event)
            writer.emit(event)
            if place % 7 == 0:
                assert writer.flush(10)
                followed.update(reader)
        assert writer.flush(10)
        followed.update(reader)
        once = finding_records(diagnose_run(reader, run_id))
    writer.close()
    assert once
    assert live.records() == once
    assert finding_records(followed.diagnosis) == once
    counted = [one for one in once if one.state == "open"]
    assert [(one.detector, one.severity.label) for one in said] == [(one.detector, one.severity) for one in counted]
