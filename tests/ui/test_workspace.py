from dataclasses import replace
from pathlib import Path

import pytest

from grpo_gui.commands import HandOver, Pause, Step
from grpo_gui.errors import BadInputError
from grpo_gui.events import HyperparameterChanged, RunFailed, RunStarted, RunStatus, SnapshotSaved, TrainerStatus
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_from_json
from grpo_gui.ui.models.branch_point import BranchPoint
from grpo_gui.ui.run_config import total_steps
from grpo_gui.ui.workspace import FOLLOW_INTERVAL_MS
from tests.ui.fakes import FakeHandle, run_record, step_completed


def start(workspace, qtbot, **options):
    with qtbot.waitSignal(workspace.run_selected):
        workspace.start(TrainConfig(), **options)


def deliver(pump, *events):
    for event in events:
        pump.put(event)
    pump.drain()


def test_that_starting_creates_the_run_selects_it_and_launches_the_trainer(workspace, launcher, qtbot):
    config = TrainConfig(task="sort", seed=7)
    with qtbot.waitSignal(workspace.run_selected) as caught:
        workspace.start(config)
    assert caught.args[0].id == 1
    assert launcher.started == [(config, 1, False)]
    assert workspace.is_training
    assert workspace.is_selected_trained_here


def test_that_a_second_start_is_ignored_while_one_is_under_way(workspace, launcher, qtbot):
    workspace.start(TrainConfig())
    workspace.start(TrainConfig())
    qtbot.waitUntil(lambda: workspace.is_training)
    workspace.start(TrainConfig())
    assert len(launcher.started) == 1


def test_that_starting_with_one_step_posts_step_to_the_new_trainer(workspace, launcher, qtbot):
    start(workspace, qtbot, only_one_step=True)
    qtbot.waitUntil(lambda: launcher.handles[0].commands == [Step()])


def test_that_a_run_that_cannot_be_created_is_reported_and_can_be_tried_again(workspace, fake_reader, qtbot):
    fake_reader.run = lambda run_id: None
    with qtbot.waitSignal(workspace.problem) as caught:
        workspace.start(TrainConfig())
    assert "cannot be read back" in caught.args[0]
    assert not workspace.is_starting


def test_that_events_of_the_selected_run_update_its_record(workspace, pump, qtbot):
    start(workspace, qtbot)
    deliver(
        pump,
        RunStarted(1, 0, "cuda:0", 123, (("torch", "2"),)),
        TrainerStatus(1, RunStatus.RUNNING, 0),
        step_completed(1, 1),
        step_completed(1, 2),
    )
    run = workspace.run
    assert (run.device, run.parameters, run.status, run.steps_done, run.completions) == (
        "cuda:0",
        123,
        RunStatus.RUNNING,
        2,
        8,
    )


def test_that_events_of_another_run_reach_only_all_events(workspace, fake_reader, pump, qtbot):
    fake_reader.records[5] = run_record(5)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(5)
    mine, everyones = [], []
    workspace.events.connect(mine.append)
    workspace.all_events.connect(everyones.append)
    change = HyperparameterChanged(1, 3, "beta", 0.1, 0.2)
    deliver(pump, change)
    assert (mine, everyones) == ([], [[change]])


def test_that_a_finished_trainer_is_no_longer_training_although_its_thread_still_ends(workspace, pump, qtbot):
    start(workspace, qtbot)
    with qtbot.waitSignal(workspace.handle_changed):
        deliver(pump, TrainerStatus(1, RunStatus.FINISHED, 120))
    assert not workspace.is_training
    assert workspace.transport_status is None


def test_that_a_failed_run_tells_its_sentence(workspace, pump, qtbot):
    start(workspace, qtbot)
    with qtbot.waitSignal(workspace.failed) as caught:
        deliver(pump, RunFailed(1, 3, "The loss is not finite.", ""))
    assert caught.args == ["The loss is not finite.", ""]


def test_that_handing_over_starts_the_background_process_and_commands_reach_it(
    workspace, pump, launcher, fake_reader, qtbot
):
    start(workspace, qtbot)
    workspace.hand_over()
    assert launcher.handles[0].commands == [HandOver()]
    with qtbot.waitSignal(workspace.handed_over) as caught:
        deliver(pump, TrainerStatus(1, RunStatus.HANDED_OVER, 5))
    assert caught.args == [1]
    assert launcher.background == [1]


def test_that_an_active_run_of_another_process_is_attached_and_followed(workspace, launcher, fake_reader, qtbot):
    fake_reader.records[3] = run_record(3, status=RunStatus.RUNNING, steps_done=10, ended_s=None)
    launcher.attachable[3] = FakeHandle(3)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(3)
    workspace.post(Pause())
    assert launcher.attachable[3].commands == [Pause()]
    fake_reader.records[3] = run_record(3, status=RunStatus.RUNNING, steps_done=11, ended_s=None)
    with qtbot.waitSignals([workspace.store_grew, workspace.run_updated], timeout=20 * FOLLOW_INTERVAL_MS):
        pass
    assert workspace.run.steps_done == 11


def test_that_a_followed_run_that_ended_takes_no_more_commands(workspace, launcher, fake_reader, qtbot):
    fake_reader.records[3] = run_record(3, status=RunStatus.RUNNING, ended_s=None)
    launcher.attachable[3] = FakeHandle(3)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(3)
    fake_reader.records[3] = run_record(3, status=RunStatus.FINISHED)
    qtbot.waitUntil(lambda: not workspace.can_post)


def test_that_a_followed_run_that_failed_tells_its_sentence(workspace, launcher, fake_reader, qtbot):
    fake_reader.records[7] = run_record(7, status=RunStatus.RUNNING, origin="followed")
    launcher.attachable[7] = FakeHandle(7)
    workspace.select_run(7)
    qtbot.waitUntil(lambda: workspace.can_post)
    with qtbot.waitSignal(workspace.failed) as told:
        fake_reader.records[7] = replace(
            fake_reader.records[7], status=RunStatus.FAILED, message="Rank 1 ended with signal 9 (SIGKILL)."
        )
    assert told.args == ["Rank 1 ended with signal 9 (SIGKILL).", ""]


@pytest.mark.parametrize(
    ("config", "total"), [('{"program": "bridge", "max_steps": 240}', 240), ('{"program": "trl", "max_steps": 0}', 12)]
)
def test_that_the_steps_of_a_run_of_another_program_are_those_that_it_names(config, total):
    assert total_steps(run_record(1, config=config, steps_done=12)) == total


def test_that_a_lagging_window_is_told_to_read_on(workspace, pump, qtbot):
    with qtbot.waitSignal(workspace.store_grew):
        pump.lagged.emit()


def test_that_resuming_launches_with_the_stored_config(workspace, launcher, fake_reader, qtbot):
    fake_reader.records[2] = run_record(2, status=RunStatus.STOPPED, state_path="somewhere")
    workspace.resume_run(fake_reader.records[2])
    assert launcher.started == [(TrainConfig(), 2, True)]


def test_that_a_run_that_another_trainer_has_is_left_to_it(workspace, launcher, fake_reader, qtbot):
    fake_reader.records[2] = run_record(2, status=RunStatus.STOPPED, state_path="somewhere")
    launcher.refusal = BadInputError("Run 2 is being trained already.")
    with qtbot.waitSignal(workspace.problem) as caught:
        workspace.resume_run(fake_reader.records[2])
    assert caught.args == ["Run 2 is being trained already.", ""]
    assert (workspace.handle, workspace.trained_run, workspace.is_training) == (None, None, False)
    launcher.refusal = None
    workspace.resume_run(fake_reader.records[2])
    assert workspace.is_training


def test_that_a_read_without_failure_handler_reports_its_error(workspace, qtbot):
    with qtbot.waitSignal(workspace.problem) as caught:
        workspace.read(lambda reader: 1 / 0, lambda result: None)
    assert "ZeroDivisionError" in caught.args[1]


def test_that_a_note_is_kept_for_the_selected_run(workspace, fake_reader, qtbot):
    fake_reader.records[5] = run_record(5)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(5)
    with qtbot.waitSignal(workspace.store_grew):
        workspace.add_note(7, "looks odd")
    assert workspace._writer.notes == [(5, 7, "looks odd")]


@pytest.mark.parametrize("text", ["{}", "no json"])
def test_that_the_config_of_a_foreign_run_is_read_or_left_out(workspace, fake_reader, qtbot, text):
    fake_reader.records[5] = run_record(5, config=text)
    with qtbot.waitSignal(workspace.run_selected):
        workspace.select_run(5)
    assert workspace.selected_config() == (TrainConfig() if text == "{}" else None)


def branch_point(**changes):
    values = {"run_id": 4, "run_title": "sort", "step": 50, "path": Path("/snapshots/step-000050")}
    return BranchPoint(**(values | {"has_training_state": True, "config": TrainConfig(), **changes}))


def test_that_a_branch_is_a_new_run_with_its_parent_that_begins_in_the_snapshot(
    workspace, launcher, fake_reader, qtbot, monkeypatch
):
    created = []
    create = workspace._writer.create_run
    monkeypatch.setattr(workspace._writer, "create_run", lambda new: created.append(new) or create(new))
    start(workspace, qtbot, branch=branch_point())
    assert (created[0].parent_run_id, created[0].parent_step) == (4, 50)
    assert launcher.started == [(TrainConfig(), 1, False)]
    assert launcher.snapshots == [Path("/snapshots/step-000050")]


def test_that_a_run_goes_on_from_a_snapshot_with_more_steps(workspace, launcher, fake_reader, qtbot):
    run = fake_reader.records[3] = run_record(3)
    workspace.resume_run(run, snapshot=Path("/snapshots/a"), steps=500)
    qtbot.waitUntil(lambda: len(launcher.started) == 1)
    assert launcher.started == [(replace(TrainConfig(), steps=500), 3, True)]
    assert launcher.snapshots == [Path("/snapshots/a")]
    assert config_from_json(fake_reader.records[3].config).steps == 500


def test_that_a_run_cut_off_before_its_first_state_begins_anew(workspace, launcher, fake_reader):
    workspace.resume_run(run_record(3, status=RunStatus.INTERRUPTED, state_path=None))
    workspace.handle.running = False
    workspace.resume_run(run_record(4, status=RunStatus.INTERRUPTED, state_path="/state"))
    assert [(run_id, resume) for _, run_id, resume in launcher.started] == [(3, False), (4, True)]


def test_that_a_branch_cut_off_before_its_first_state_is_refused_with_a_sentence(workspace, launcher, qtbot):
    run = run_record(3, status=RunStatus.INTERRUPTED, state_path=None, parent_run_id=1, parent_step=50)
    with qtbot.waitSignal(workspace.problem) as problem:
        workspace.resume_run(run)
    assert "branch again from run 1 at step 50" in problem.args[0]
    assert launcher.started == []


def test_that_a_new_snapshot_is_told_once_the_store_has_it(workspace, pump, qtbot):
    with qtbot.waitSignal(workspace.snapshots_changed) as told:
        deliver(pump, SnapshotSaved(7, 50, 1e9, "/a", "every", True, 1, "", ()))
    assert told.args == [7]
