"""The diagnosis beside the window, over a real database."""

import pytest

from grpo_gui.diagnose.finding import FindingState
from grpo_gui.errors import StoreError
from grpo_gui.events import RunFailed, RunStatus, TrainerStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.diagnosing import diagnose_run, findings_of, stored_findings
from grpo_gui.ui import health_watch
from grpo_gui.ui.health_watch import HealthWatch
from tests.ui.broken_run import STEPS, broken_steps, healthy_steps
from tests.ui.stored_run import stored_run


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(health_watch, "READ_MS", 20)


def store_all(writer, events):
    for event in events:
        writer.emit(event)
    assert writer.flush(10)


def store_broken(writer, first=1, last=STEPS, run_id=None):
    run_id = run_id or stored_run(writer)
    store_all(writer, broken_steps(run_id, first, last))
    return run_id


def test_that_a_stored_run_is_judged_as_in_one_pass(stored, writer, qtbot, tmp_path):
    run_id = store_broken(writer)
    watch = HealthWatch(stored)
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: watch.health.rows == STEPS)
    with StoreReader(tmp_path / "runs.db") as reader:
        assert watch.health.findings == diagnose_run(reader, run_id).findings
    assert [one.detector for one in watch.health.open] == ["constant_reward"]
    assert len(watch.health.curves["constant_reward"].steps)


def test_that_findings_are_saved_and_only_when_they_changed(stored, writer, qtbot, tmp_path):
    run_id = store_broken(writer)
    watch = HealthWatch(stored)
    stored.select_run(run_id)

    def saved():
        with StoreReader(tmp_path / "runs.db") as reader:
            return stored_findings(reader, run_id)

    qtbot.waitUntil(lambda: bool(saved()))
    assert saved() == watch.health.findings
    with StoreReader(tmp_path / "runs.db") as reader:
        version = reader.data_version()
        with qtbot.waitSignal(watch.changed):
            watch._tick()
        with qtbot.waitSignal(watch.changed):
            watch._tick()
        assert reader.data_version() == version
        assert findings_of(reader, run_id) == saved()


def test_that_a_live_run_tells_its_finding_once(stored, writer, pump, qtbot):
    run_id = store_broken(writer, 1, 5)
    watch = HealthWatch(stored)
    told = []
    watch.found.connect(lambda run, finding: told.append((run, finding.detector)))
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: watch.health.rows == 5)
    store_all(writer, broken_steps(run_id, 6, 20))
    stored.store_grew.emit()
    qtbot.waitUntil(lambda: watch.health.rows == 20)
    with qtbot.waitSignal(watch.changed):
        stored.store_grew.emit()
    assert told == [(run_id, "constant_reward")]


def test_that_what_was_found_before_the_window_came_is_no_news(stored, writer, qtbot):
    run_id = store_broken(writer)
    watch = HealthWatch(stored)
    told = []
    watch.found.connect(lambda *args: told.append(args))
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: bool(watch.health.open))
    assert told == []


def test_that_a_muted_finding_is_shown_no_more(stored, writer, qtbot):
    run_id = store_broken(writer)
    watch = HealthWatch(stored)
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: bool(watch.health.open))
    watch.mute("constant_reward", True)
    qtbot.waitUntil(lambda: not watch.health.open)
    assert watch.health.finding("constant_reward") is not None
    watch.mute("constant_reward", False)
    qtbot.waitUntil(lambda: bool(watch.health.open))


def test_that_details_are_made_only_while_somebody_looks(stored, writer, qtbot):
    run_id = store_broken(writer)
    watch = HealthWatch(stored)
    seen = []
    watch.details_changed.connect(seen.append)
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: watch.health.rows == STEPS)
    assert seen == []
    watch.want_details(True)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen[-1].meter.share == 1.0
    assert {one.subject for one in seen[-1].progress} == {"held-out accuracy", "reward", "repeated prompts"}
    assert dict(seen[-1].missing)["not recorded by this run"]


def test_that_another_run_shows_nothing_of_the_last_one(stored, writer, qtbot):
    broken, healthy = store_broken(writer), stored_run(writer)
    store_all(writer, healthy_steps(healthy, 3))
    watch = HealthWatch(stored)
    stored.select_run(broken)
    qtbot.waitUntil(lambda: bool(watch.health.open))
    stored.select_run(healthy)
    qtbot.waitUntil(lambda: watch.health.run_id == healthy and watch.health.rows == 3)
    assert watch.health.findings == ()


def test_that_a_run_that_broke_by_a_number_is_found_from_the_store(stored, writer, qtbot, tmp_path):
    run_id = stored_run(writer)
    store_all(writer, healthy_steps(run_id, 4))
    writer.emit(RunFailed(run_id, 4, "The loss of completion 2 of prompt 0 ('Which?') is not finite. Lower it.", ""))
    writer.emit(TrainerStatus(run_id, RunStatus.FAILED, 4, "The loss of completion 2 ('Which?') is not finite."))
    assert writer.flush(10)
    with StoreReader(tmp_path / "runs.db") as reader:
        found = diagnose_run(reader, run_id).findings
    assert [one.detector for one in found] == ["not_finite"]
    assert found[0].state is FindingState.OPEN


def test_that_a_database_that_cannot_be_read_is_said_once(stored, writer, qtbot, monkeypatch):
    run_id = store_broken(writer)

    def broken(*_args, **_kwargs):
        raise StoreError("The database is damaged; open another one.")

    monkeypatch.setattr(StoreReader, "diagnosis_steps", broken)
    watch = HealthWatch(stored)
    said = []
    stored.problem.connect(lambda sentence, _: said.append(sentence))
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: bool(said))
    stored.store_grew.emit()
    qtbot.waitUntil(lambda: not watch._watched[run_id].is_busy and not watch._timer.isActive())
    assert said == [f"Run {run_id} cannot be diagnosed. The database is damaged; open another one."]


def test_that_a_look_for_which_too_many_events_wait_reads_the_store(stored, writer, qtbot, monkeypatch):
    monkeypatch.setattr(health_watch, "MOST_EVENTS", 3)
    looks = []
    look = health_watch._look
    monkeypatch.setattr(
        health_watch,
        "_look",
        lambda *given, events, **more: looks.append(len(events)) or look(*given, events=events, **more),
    )
    run_id = store_broken(writer, 1, 2)
    watch = HealthWatch(stored)
    stored.select_run(run_id)
    qtbot.waitUntil(lambda: watch.health.rows == 2)
    store_broken(writer, 3, STEPS, run_id)
    stored.all_events.emit(list(broken_steps(run_id, 3, STEPS)))
    qtbot.waitUntil(lambda: watch.health.rows == STEPS)
    assert set(looks) == {0}
