"""When snapshots are made, what they hold, and that runs go on from them."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grpo_gui.commands import Pause, Resume, SaveSnapshot, SetHyperparameters, Stop
from grpo_gui.errors import SnapshotError, TrainingError
from grpo_gui.events import (
    EvalCompleted,
    HyperparameterChanged,
    RunStarted,
    RunStatus,
    SnapshotRemoved,
    SnapshotSaved,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.language.loading import load_policy
from grpo_gui.snapshots.keeping import KeepRule, is_pinned, write_rule
from grpo_gui.snapshots.manifest import read_manifest
from grpo_gui.snapshots.shelf import shelf_folder
from grpo_gui.snapshots.verifying import verify
from grpo_gui.training import save_clock
from grpo_gui.training.state import load_state, newest_state
from grpo_gui.training.validation import problems
from tests.training.fakes import Rig, tiny_config
from tests.training.test_trainer import make_rig, post_when_paused


def saved(rig: Rig) -> list[tuple[int, str]]:
    return [(event.step, event.reason) for event in rig.sink.of(SnapshotSaved)]


def paths(rig: Rig) -> dict[int, Path]:
    return {event.step: Path(event.path) for event in rig.sink.of(SnapshotSaved)}


def on_disk(rig: Rig) -> list[str]:
    return sorted(path.name for path in shelf_folder(rig.state_dir).iterdir() if path.is_dir())


def branch_of(rig: Rig, snapshot: Path, folder: Path, **changes) -> Rig:
    """Another run that begins in a snapshot of this one."""
    return Rig(replace(rig.config, **changes), folder, snapshot=snapshot)


def test_that_a_snapshot_is_made_at_the_end_without_being_asked(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, eval_steps=2, eval_prompts=8)
    rig.run()
    (event,) = rig.sink.of(SnapshotSaved)
    manifest = verify(Path(event.path), manifest_sha256=event.sha256)
    assert (manifest.run_id, manifest.step, manifest.optimizer_step, manifest.reason) == (7, 4, 8, "end")
    assert (manifest.size_bytes, manifest.has_training_state) == (event.size_bytes, True)
    assert manifest.metrics["reward"] == rig.sink.steps[-1]["reward"]
    assert manifest.metrics["eval/reward"] == dict(rig.sink.of(EvalCompleted)[-1].metrics)["eval/reward"]
    assert dict(event.metrics)["kl"] == rig.sink.steps[-1]["kl"]
    assert manifest.config["num_generations"] == 4
    assert manifest.parent.model == str(tiny_model)
    assert manifest.versions["torch"] == torch.__version__


def test_that_the_snapshot_has_the_weights_of_the_run(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path)
    rig.run()
    state = load_state(newest_state(rig.state_dir))
    weights = load_policy(str(paths(rig)[4]), "cpu").state_dict()
    assert weights.keys() == state.weights.keys()
    assert all(torch.equal(weights[name], state.weights[name]) for name in weights)
    before = load_policy(str(tiny_model), "cpu").state_dict()
    assert not all(torch.equal(weights[name], before[name]) for name in weights)


def test_that_snapshots_are_made_every_n_steps_and_the_last_step_has_one(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=6, save_steps=2)
    rig.run()
    assert saved(rig) == [(2, "every"), (4, "every"), (6, "end")]


def test_that_a_snapshot_does_not_change_the_training(tiny_model, tmp_path):
    without, often = make_rig(tiny_model, tmp_path / "a"), make_rig(tiny_model, tmp_path / "b", save_steps=1)
    without.run()
    often.run()
    assert without.sink.steps == often.sink.steps


def test_that_a_snapshot_is_made_at_each_new_best_held_out_reward(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=8, eval_steps=1, eval_prompts=32, save_best=True, save_total_limit=0)
    rig.run()
    rewards = {event.step: dict(event.metrics)["eval/reward"] for event in rig.sink.of(EvalCompleted)}
    expected, best = [], rewards[0]
    for step in range(1, 8):
        if rewards[step] > best:
            best = rewards[step]
            expected.append((step, "best"))
    assert expected
    assert saved(rig) == [*expected, (8, "end")]


def test_that_a_snapshot_asked_for_is_made_after_the_step_and_pinned(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, save_total_limit=1).post_at_step(2, SaveSnapshot())
    rig.run()
    assert saved(rig) == [(2, "hand"), (4, "end")]
    assert is_pinned(paths(rig)[2])
    assert not is_pinned(paths(rig)[4])
    assert on_disk(rig) == ["step-000002", "step-000004"]


def test_that_a_snapshot_can_be_asked_for_while_paused(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path).post_at_step(2, Pause())
    post_when_paused(rig, [SaveSnapshot(), Resume()])
    rig.run()
    assert saved(rig) == [(2, "hand"), (4, "end")]
    assert verify(paths(rig)[2]).has_training_state


def test_that_a_stop_makes_a_snapshot_unless_nothing_was_learned_since_the_last(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path / "a").post_at_step(2, Stop())
    assert rig.run() is RunStatus.STOPPED
    assert saved(rig) == [(2, "stop")]
    again = make_rig(tiny_model, tmp_path / "a", resume=True)
    again.commands.put(Stop())
    again.run()
    assert saved(again) == []
    untrained = make_rig(tiny_model, tmp_path / "b")
    untrained.commands.put(Stop())
    untrained.run()
    assert saved(untrained) == []
    asked = make_rig(tiny_model, tmp_path / "c").post_at_step(2, SaveSnapshot(), Stop())
    asked.run()
    assert saved(asked) == [(2, "hand")]


def test_that_old_snapshots_make_room_and_the_trainer_says_which(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=6, save_steps=1, save_total_limit=2)
    rig.run()
    assert on_disk(rig) == ["step-000005", "step-000006"]
    assert [event.step for event in rig.sink.of(SnapshotRemoved)] == [1, 2, 3, 4]


def test_that_a_rule_changed_while_the_run_goes_on_is_followed(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=6, save_steps=1, save_total_limit=2)
    shelf = shelf_folder(rig.state_dir)
    rig.sink.on_event = lambda event: write_rule(shelf, KeepRule(4)) if isinstance(event, SnapshotRemoved) else None
    rig.run()
    assert on_disk(rig) == ["step-000003", "step-000004", "step-000005", "step-000006"][-4:]


def test_that_a_snapshot_that_cannot_be_written_is_told_and_harms_nothing(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=3, save_steps=2)
    rig.state_dir.mkdir()
    shelf_folder(rig.state_dir).write_text("a file where the folder should be")
    assert rig.run() is RunStatus.FINISHED
    messages = [event.message for event in rig.sink.of(TrainerStatus) if event.message]
    assert any("step-000002 cannot be written" in message for message in messages)
    assert len(rig.sink.steps) == 3


@pytest.mark.parametrize("save_only_model", [False, True])
def test_that_the_training_state_is_left_out_on_wish(tiny_model, tmp_path, save_only_model):
    rig = make_rig(tiny_model, tmp_path, steps=3, save_steps=2, save_only_model=save_only_model)
    rig.run()
    assert [verify(path).has_training_state for path in paths(rig).values()] == [not save_only_model] * 2


def test_that_a_run_goes_on_from_any_of_its_snapshots_bit_for_bit(tiny_model, tmp_path):
    straight = make_rig(tiny_model, tmp_path / "a", steps=8, eval_steps=2, eval_prompts=8)
    straight.run()
    first = make_rig(tiny_model, tmp_path / "b", steps=8, eval_steps=2, eval_prompts=8, save_steps=2)
    first.run()
    again = Rig(first.config, first.state_dir, resume=True, snapshot=paths(first)[4])
    assert again.run() is RunStatus.FINISHED
    assert again.sink.of(RunStarted)[0].step == 4
    assert again.sink.steps == straight.sink.steps[4:]
    evaluations = [event.metrics for event in straight.sink.of(EvalCompleted) if event.step > 4]
    assert [event.metrics for event in again.sink.of(EvalCompleted)] == evaluations
    assert paths(again)[8].name == "step-000008-2"
    ends = [load_policy(str(path), "cpu").state_dict() for path in (paths(straight)[8], paths(again)[8])]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_that_snapshots_of_steps_done_anew_make_room_first(tiny_model, tmp_path):
    first = make_rig(tiny_model, tmp_path, steps=6, save_steps=1, save_total_limit=4)
    first.run()
    assert on_disk(first) == ["step-000003", "step-000004", "step-000005", "step-000006"]
    again = Rig(first.config, first.state_dir, resume=True, snapshot=paths(first)[4])
    again.run()
    assert on_disk(again) == ["step-000003", "step-000004", "step-000005-2", "step-000006-2"]
    assert [event.step for event in again.sink.of(SnapshotRemoved)] == [5, 6]


def test_that_a_run_taken_up_in_an_old_snapshot_is_resumed_there_even_when_it_is_cut_off_at_once(tiny_model, tmp_path):
    first = make_rig(tiny_model, tmp_path, steps=6, save_steps=2)
    first.run()
    again = Rig(first.config, first.state_dir, resume=True, snapshot=paths(first)[2])
    again.commands.put(Stop())
    assert again.run() is RunStatus.STOPPED
    resumed = Rig(first.config, first.state_dir, resume=True)
    resumed.run()
    assert resumed.sink.of(RunStarted)[0].step == 2
    assert resumed.sink.steps == first.sink.steps[2:]


def test_that_more_steps_are_told_as_a_change_and_stretch_the_schedule(tiny_model, tmp_path):
    first = make_rig(tiny_model, tmp_path, steps=4, save_steps=2)
    first.run()
    longer = Rig(replace(first.config, steps=6), first.state_dir, resume=True)
    longer.run()
    (change,) = longer.sink.of(HyperparameterChanged)
    assert (change.step, change.name, change.old, change.new) == (5, "steps", 4.0, 6.0)
    assert [event.step for event in longer.sink.of(StepCompleted)] == [5, 6]
    straight = make_rig(tiny_model, tmp_path / "straight", steps=6)
    straight.run()
    rates = [step["learning_rate"] for step in longer.sink.steps]
    assert rates == [step["learning_rate"] for step in straight.sink.steps[4:]]
    again = Rig(longer.config, first.state_dir, resume=True, snapshot=paths(first)[2])
    again.run()
    assert [event.step for event in again.sink.of(HyperparameterChanged)] == [3]


def test_that_a_stop_within_a_step_can_be_resumed_from_its_snapshot(tiny_model, tmp_path):
    straight = make_rig(tiny_model, tmp_path / "a", num_iterations=3, micro_batch_prompts=1)
    straight.run()
    stopped = make_rig(tiny_model, tmp_path / "b", num_iterations=3, micro_batch_prompts=1)
    calls = []

    class StopsLate(type(stopped.commands)):
        def get_nowait(self):
            calls.append(1)
            if len(calls) == 40:  # in the inner updates of the second step
                self.put(Stop())
            return super().get_nowait()

    stopped.commands = StopsLate()
    assert stopped.run() is RunStatus.STOPPED
    (path,) = paths(stopped).values()
    assert read_manifest(path).inner_updates > 0
    again = Rig(stopped.config, stopped.state_dir, resume=True, snapshot=path)
    again.run()
    assert stopped.sink.steps + again.sink.steps == straight.sink.steps


def test_that_a_branch_without_changes_repeats_its_parent(tiny_model, tmp_path):
    parent = make_rig(tiny_model, tmp_path / "a", steps=6, save_steps=2, eval_steps=2, eval_prompts=8)
    parent.run()
    branch = branch_of(parent, paths(parent)[2], tmp_path / "b")
    branch.run()
    assert branch.sink.of(RunStarted)[0].step == 2
    assert branch.sink.steps == parent.sink.steps[2:]
    assert [event.step for event in branch.sink.of(EvalCompleted)] == [2, 4, 6]
    manifest = read_manifest(paths(branch)[6])
    assert (manifest.parent.run_id, manifest.parent.step) == (7, 2)


def test_that_a_branch_uses_its_own_settings_and_seed(tiny_model, tmp_path):
    parent = make_rig(tiny_model, tmp_path / "a", steps=6, save_steps=2)
    parent.post_at_step(1, SetHyperparameters(beta=0.5)).run()
    snapshot = paths(parent)[2]
    other_beta = branch_of(parent, snapshot, tmp_path / "b", beta=0.0, num_generations=6)
    other_beta.run()
    assert other_beta.sink.steps[0]["loss"] == pytest.approx(other_beta.sink.steps[0]["policy_loss"])
    same, other = (
        branch_of(parent, snapshot, tmp_path / "c", beta=0.5),
        branch_of(parent, snapshot, tmp_path / "d", seed=1),
    )
    same.run()
    other.run()
    assert same.sink.steps[0]["reward"] == parent.sink.steps[2]["reward"]
    assert same.sink.steps == parent.sink.steps[2:]
    assert other.sink.steps != same.sink.steps


def test_that_a_branch_that_is_cut_off_goes_on_and_remembers_its_parent(tiny_model, tmp_path):
    parent = make_rig(tiny_model, tmp_path / "a", steps=6, save_steps=2)
    parent.run()
    straight = branch_of(parent, paths(parent)[2], tmp_path / "b", beta=0.1)
    straight.run()
    cut = branch_of(parent, paths(parent)[2], tmp_path / "c", beta=0.1)
    cut.commands.put(Stop())
    cut.run()
    resumed = Rig(cut.config, cut.state_dir, resume=True)
    resumed.run()
    assert resumed.sink.steps == straight.sink.steps
    assert read_manifest(paths(resumed)[6]).parent.step == 2


def test_that_a_branch_from_a_snapshot_without_state_takes_the_weights_but_not_a_resume(tiny_model, tmp_path):
    parent = make_rig(tiny_model, tmp_path / "a", steps=6, save_steps=2, save_only_model=True)
    parent.run()
    snapshot = paths(parent)[4]
    branch = branch_of(parent, snapshot, tmp_path / "b", save_only_model=False)
    branch.run()
    assert [event.step for event in branch.sink.of(RunStarted)] == [4]
    assert branch.sink.steps[0]["kl"] > 0  # of the parent's weights, from its base model
    with pytest.raises(TrainingError, match="without its training state"):
        replace(parent, resume=True, snapshot=snapshot).run()


def test_that_a_branch_with_another_model_is_refused(tiny_model, tmp_path):
    parent = make_rig(tiny_model, tmp_path / "a", steps=2)
    parent.run()
    for name, only_model in (("b", False), ("c", True)):
        other = make_rig(tiny_model, tmp_path / name, steps=2, learning_rate=1e-2, save_only_model=only_model)
        other.run()
        branch = branch_of(parent, paths(parent)[2], tmp_path / f"{name}2", steps=4, model=str(paths(other)[2]))
        with pytest.raises(TrainingError, match="another reference"):
            branch.run()


def test_that_a_damaged_snapshot_is_not_gone_on_from(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=4, save_steps=2)
    rig.run()
    (paths(rig)[2] / "training_state" / "training.safetensors").write_bytes(b"x")
    with pytest.raises(SnapshotError, match=r"training\.safetensors"):
        replace(rig, resume=True, snapshot=paths(rig)[2]).run()


def test_that_the_state_is_saved_now_and_then_without_being_asked(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(save_clock, "EVERY_S", 0.0)
    monkeypatch.setattr(save_clock, "MOST_OF_THE_TIME", math.inf)
    rig = make_rig(tiny_model, tmp_path)
    states: list[int] = []
    rig.sink.flush = lambda timeout_s: states.append(len(rig.sink.steps)) is None
    rig.run()
    assert states == [1, 2, 3, 4]
    assert len(list(rig.state_dir.glob("state-*"))) == 2


def test_that_slow_saving_is_done_less_often(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(save_clock.time, "monotonic", lambda: now[0])
    clock = save_clock.SaveClock()
    assert not clock.is_due()
    now[0] = 15.0
    assert clock.is_due()
    with clock.saving():
        now[0] = 16.0
    now[0] = 65.9
    assert not clock.is_due()
    now[0] = 66.0
    assert clock.is_due()


def test_that_the_best_snapshot_needs_an_evaluation(tiny_model):
    config = tiny_config(tiny_model, save_best=True, eval_steps=0)
    assert "held-out reward" in problems(config)["save_best"]
    assert problems(replace(config, eval_steps=1)) == {}


def test_that_a_manifest_reads_as_plain_json(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path)
    rig.run()
    values = json.loads((paths(rig)[4] / "snapshot.json").read_text())
    assert values["run"] == {"id": 7, "name": "compare"}
    assert set(values["files"]) >= {"model.safetensors", "training_state/state.json"}
