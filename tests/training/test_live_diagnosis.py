"""The diagnosis of a run without a window: late by a second at most, and complete at the end."""

from types import SimpleNamespace

import pytest

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.events import StepCompleted
from grpo_gui.training import live_diagnosis
from grpo_gui.training.live_diagnosis import LiveDiagnosis

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
