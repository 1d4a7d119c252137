import queue
from dataclasses import replace
from itertools import groupby

import pytest
import torch

from grpo_gui.commands import HandOver, Pause, Resume, SetHyperparameters, Step, Stop
from grpo_gui.errors import BadInputError, TrainingError
from grpo_gui.events import (
    EvalCompleted,
    HyperparameterChanged,
    RunStarted,
    RunStatus,
    StateSaved,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.training.learner import Learner
from tests.training.fakes import Rig, tiny_config


def make_rig(tiny_model, tmp_path, resume: bool = False, **changes: object) -> Rig:
    return Rig(tiny_config(tiny_model, **changes), tmp_path / "states", resume)


def post_when_paused(rig: Rig, *answers) -> Rig:
    """Answer each pause with the next commands."""
    waiting = iter(answers)
    before = rig.sink.on_event

    def answer(event) -> None:
        before(event)
        if isinstance(event, TrainerStatus) and event.status is RunStatus.PAUSED:
            for command in next(waiting):
                rig.commands.put(command)

    rig.sink.on_event = answer
    return rig


def test_that_a_run_reports_from_its_start_to_its_end(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, eval_steps=3, eval_prompts=8)
    assert rig.run() is RunStatus.FINISHED
    in_turn = [status for status, _ in groupby(rig.sink.statuses)]  # each may be told again with another message
    assert in_turn == [RunStatus.WARMING_UP, RunStatus.RUNNING, RunStatus.FINISHED]
    (started,) = rig.sink.of(RunStarted)
    assert (started.step, started.device) == (0, "cpu")
    assert started.parameters > 1000
    assert dict(started.versions)["torch"] == torch.__version__
    steps = rig.sink.of(StepCompleted)
    assert [event.step for event in steps] == [1, 2, 3, 4]
    assert [event.optimizer_step for event in steps] == [2, 4, 6, 8]
    assert [event.step for event in rig.sink.of(EvalCompleted)] == [0, 3, 4]
    (saved,) = rig.sink.of(StateSaved)
    assert saved.step == 4
    assert all(event.run_id == 7 for event in rig.sink.events)


def test_that_every_time_of_a_step_is_reported_and_they_add_up(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=1)
    rig.run()
    metrics = dict(rig.sink.of(StepCompleted)[0].metrics)
    parts = [metrics[f"time/{part}"] for part in ("rollout", "reward", "logps", "update", "store")]
    assert all(part > 0 for part in parts)
    assert metrics["step_time"] == pytest.approx(sum(parts))
    tokens = metrics["completions/mean_length"] * 16
    assert metrics["tokens_per_second"] == pytest.approx(tokens / metrics["step_time"])


def test_that_evaluation_never_changes_the_training(tiny_model, tmp_path):
    without, with_eval = make_rig(tiny_model, tmp_path / "a"), make_rig(tiny_model, tmp_path / "b", eval_steps=1)
    without.run()
    with_eval.run()
    assert without.sink.steps == with_eval.sink.steps
    assert len(with_eval.sink.of(EvalCompleted)) == 5


def test_that_a_mix_is_evaluated_for_each_task(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=1, task="mix", eval_steps=1, eval_prompts=16)
    rig.run()
    names = dict(rig.sink.of(EvalCompleted)[0].metrics).keys()
    tasks = ("compare", "sort", "add", "reverse")
    assert names == {"eval/reward", "eval/accuracy", *(f"eval/{task}/accuracy" for task in tasks)}


def test_that_stop_and_resume_give_the_numbers_of_a_run_that_never_stopped(tiny_model, tmp_path):
    straight = make_rig(tiny_model, tmp_path / "a", steps=10, eval_steps=5)
    straight.run()
    stopped = make_rig(tiny_model, tmp_path / "b", steps=10, eval_steps=5).post_at_step(5, Stop())
    assert stopped.run() is RunStatus.STOPPED
    resumed = make_rig(tiny_model, tmp_path / "b", resume=True, steps=10, eval_steps=5)
    assert resumed.run() is RunStatus.FINISHED
    assert resumed.sink.of(RunStarted)[0].step == 5
    assert stopped.sink.steps + resumed.sink.steps == straight.sink.steps
    evaluations = [[event.metrics for event in rig.sink.of(EvalCompleted)] for rig in (straight, stopped, resumed)]
    assert evaluations[1] + evaluations[2] == evaluations[0]


def test_that_changed_hyperparameters_hold_from_the_next_step_and_survive_a_resume(tiny_model, tmp_path):
    change = SetHyperparameters(learning_rate=5e-4, beta=0.1, epsilon=0.1, epsilon_high=0.3, temperature=0.9)
    straight = make_rig(tiny_model, tmp_path / "a", steps=10).post_at_step(3, change)
    straight.run()
    changes = straight.sink.of(HyperparameterChanged)
    assert {(event.step, event.name, event.old, event.new) for event in changes} == {
        (4, "learning_rate", 1e-3, 5e-4),
        (4, "beta", 0.02, 0.1),
        (4, "epsilon", 0.2, 0.1),
        (4, "epsilon_high", None, 0.3),
        (4, "temperature", 1.0, 0.9),
    }
    unchanged = make_rig(tiny_model, tmp_path / "c", steps=10)
    unchanged.run()
    assert straight.sink.steps[:3] == unchanged.sink.steps[:3]
    assert straight.sink.steps[3] != unchanged.sink.steps[3]
    assert straight.sink.steps[3]["learning_rate"] == pytest.approx(unchanged.sink.steps[3]["learning_rate"] / 2)

    stopped = make_rig(tiny_model, tmp_path / "b", steps=10).post_at_step(3, change, Stop())
    stopped.run()
    resumed = make_rig(tiny_model, tmp_path / "b", resume=True, steps=10)
    resumed.run()
    assert stopped.sink.steps + resumed.sink.steps == straight.sink.steps


def test_that_epsilon_high_can_be_the_same_as_epsilon_again(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=4)
    rig.post_at_step(1, SetHyperparameters(epsilon_high=0.3)).post_at_step(
        2, SetHyperparameters(resets_epsilon_high=True)
    )
    rig.run()
    changes = [(event.step, event.name, event.old, event.new) for event in rig.sink.of(HyperparameterChanged)]
    assert changes == [(2, "epsilon_high", None, 0.3), (3, "epsilon_high", 0.3, None)]


def test_that_a_change_that_cannot_be_used_is_refused_with_a_sentence(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path).post_at_step(1, SetHyperparameters(learning_rate=-1.0))
    assert rig.run() is RunStatus.FINISHED
    assert rig.sink.of(HyperparameterChanged) == []
    messages = [event.message for event in rig.sink.of(TrainerStatus)]
    assert any("learning rate must be above 0" in message for message in messages)


def test_that_a_pause_saves_the_state_and_a_resume_goes_on(tiny_model, tmp_path):
    straight = make_rig(tiny_model, tmp_path / "a")
    straight.run()
    rig = make_rig(tiny_model, tmp_path / "b").post_at_step(2, Pause())
    post_when_paused(rig, [Resume()])
    assert rig.run() is RunStatus.FINISHED
    in_turn = [status for status, _ in groupby(rig.sink.statuses)]
    assert in_turn[2:] == [RunStatus.PAUSED, RunStatus.RUNNING, RunStatus.FINISHED]
    assert [event.step for event in rig.sink.of(StateSaved)] == [2, 4]
    assert rig.sink.steps == straight.sink.steps


def test_that_a_paused_run_can_be_stopped_and_changed(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path).post_at_step(1, Pause())
    post_when_paused(rig, [SetHyperparameters(beta=0.5), Stop()])
    assert rig.run() is RunStatus.STOPPED
    assert [event.new for event in rig.sink.of(HyperparameterChanged)] == [0.5]
    resumed = make_rig(tiny_model, tmp_path, resume=True)
    resumed.run()
    assert resumed.sink.steps[0]["loss"] != pytest.approx(resumed.sink.steps[0]["policy_loss"])


def test_that_a_run_can_start_with_a_single_step(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path)
    rig.commands.put(Step())
    post_when_paused(rig, [Step()], [Stop()])
    assert rig.run() is RunStatus.STOPPED
    assert [event.step for event in rig.sink.of(StepCompleted)] == [1, 2]
    assert rig.sink.statuses.count(RunStatus.PAUSED) == 2


def test_that_commands_are_obeyed_in_the_middle_of_a_step(tiny_model, tmp_path, monkeypatch):
    straight = make_rig(tiny_model, tmp_path / "a", micro_batch_prompts=1)
    straight.run()
    rig = make_rig(tiny_model, tmp_path / "b", micro_batch_prompts=1)
    stop_at_loss_call(rig, monkeypatch, 4 * 2 + 5)  # the first micro-batch of the second inner update of step 2
    assert rig.run() is RunStatus.STOPPED
    monkeypatch.undo()
    assert len(rig.sink.steps) == 1
    resumed = make_rig(tiny_model, tmp_path / "b", resume=True, micro_batch_prompts=1)
    resumed.run()
    assert rig.sink.steps + resumed.sink.steps == straight.sink.steps


def stop_at_loss_call(rig: Rig, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    from grpo_gui.training import update

    calls = iter(range(1, 10**6))
    grpo_loss = update.grpo_loss

    def counting(*args, **options):
        if next(calls) == call:
            rig.commands.put(Stop())
        return grpo_loss(*args, **options)

    monkeypatch.setattr(update, "grpo_loss", counting)


def test_that_a_hand_over_saves_the_state_for_another_process(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path).post_at_step(2, HandOver())
    assert rig.run() is RunStatus.HANDED_OVER
    assert rig.sink.of(StateSaved)[-1].step == 2
    assert make_rig(tiny_model, tmp_path, resume=True).run() is RunStatus.FINISHED


def test_that_the_trainer_waits_for_a_full_store_and_says_why(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=1)
    rig.sink.busy = iter(["The disk is slow.", "The disk is slow.", None])
    assert rig.run() is RunStatus.FINISHED
    waiting = [event for event in rig.sink.of(TrainerStatus) if event.status is RunStatus.WAITING]
    assert [event.message for event in waiting] == ["The disk is slow."]
    assert rig.sink.statuses[-2] is RunStatus.RUNNING
    assert dict(rig.sink.of(StepCompleted)[0].metrics)["time/store"] > 0.05


def test_that_a_waiting_trainer_can_be_stopped(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path)
    rig.sink.busy = iter(["The disk is full."] * 1000)

    def stop(event) -> None:
        if isinstance(event, TrainerStatus) and event.status is RunStatus.WAITING:
            rig.commands.put(Stop())

    rig.sink.on_event = stop
    assert rig.run() is RunStatus.STOPPED


def test_that_a_full_memory_pauses_the_run_and_a_resume_repeats_the_step(tiny_model, tmp_path, monkeypatch):
    straight = make_rig(tiny_model, tmp_path / "a")
    straight.run()
    rig = make_rig(tiny_model, tmp_path / "b")
    post_when_paused(rig, [Resume()])
    do_step, calls = Learner.do_step, iter(range(10))

    def run_out(learner: Learner, checkpoint, ask_people):
        if next(calls) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return do_step(learner, checkpoint, ask_people)

    monkeypatch.setattr(Learner, "do_step", run_out)
    assert rig.run() is RunStatus.FINISHED
    (paused,) = [event for event in rig.sink.of(TrainerStatus) if event.status is RunStatus.PAUSED]
    for words in ("step 2", "micro_batch_prompts (now 4)", "num_generations (now 4)", "max_completion_length (now 6)"):
        assert words in paused.message
    assert rig.sink.steps == straight.sink.steps


def test_that_a_full_memory_in_the_evaluation_pauses_too(tiny_model, tmp_path, monkeypatch):
    from grpo_gui.training import trainer

    evaluate, calls = trainer.evaluate, iter(range(10))

    def run_out(*args):
        if next(calls) == 1:
            raise MemoryError
        return evaluate(*args)

    monkeypatch.setattr(trainer, "evaluate", run_out)
    rig = post_when_paused(make_rig(tiny_model, tmp_path, eval_steps=2), [Resume()])
    assert rig.run() is RunStatus.FINISHED
    assert [event.step for event in rig.sink.of(EvalCompleted)] == [0, 2, 4]
    (paused,) = [event for event in rig.sink.of(TrainerStatus) if event.status is RunStatus.PAUSED]
    assert "in the evaluation after step 2" in paused.message


def test_that_a_run_that_is_out_of_memory_can_be_stopped(tiny_model, tmp_path, monkeypatch):
    def run_out(learner: Learner, checkpoint, ask_people):
        raise MemoryError

    monkeypatch.setattr(Learner, "do_step", run_out)
    rig = post_when_paused(make_rig(tiny_model, tmp_path), [Resume()], [Stop()])
    assert rig.run() is RunStatus.STOPPED
    assert rig.sink.statuses.count(RunStatus.PAUSED) == 2


def test_that_a_model_that_does_not_fit_is_named(tiny_model, tmp_path, monkeypatch):
    from grpo_gui.training import preparing

    def run_out(model, device, options):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(preparing, "open_policy", run_out)
    with pytest.raises(TrainingError, match="do not fit into the memory of cpu"):
        make_rig(tiny_model, tmp_path).run()


def test_that_a_failing_step_saves_the_last_good_weights(tiny_model, tmp_path, monkeypatch):
    rig = make_rig(tiny_model, tmp_path)
    do_step = Learner.do_step

    def fail(learner: Learner, checkpoint, ask_people):
        if learner.step == 2:
            raise TrainingError("The loss of completion 1 to prompt 1 is not finite.")
        return do_step(learner, checkpoint, ask_people)

    monkeypatch.setattr(Learner, "do_step", fail)
    with pytest.raises(TrainingError, match="not finite"):
        rig.run()
    assert rig.sink.of(StateSaved)[-1].step == 2


def test_that_a_state_that_cannot_be_saved_does_not_end_a_pause(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path).post_at_step(1, Pause())
    rig.state_dir.write_text("a file where the folder should be")
    post_when_paused(rig, [Resume()])
    assert rig.run() is RunStatus.FINISHED
    (paused,) = [event for event in rig.sink.of(TrainerStatus) if event.status is RunStatus.PAUSED]
    assert "could not be saved" in paused.message


def test_that_a_run_without_a_state_cannot_be_resumed(tiny_model, tmp_path):
    with pytest.raises(TrainingError, match="no training state"):
        make_rig(tiny_model, tmp_path, resume=True).run()


def test_that_a_config_that_cannot_be_used_is_refused_before_anything_is_loaded(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path)
    rig.config = replace(rig.config, num_generations=1)
    with pytest.raises(BadInputError, match="judged against the others"):
        rig.run()
    assert rig.sink.of(RunStarted) == []


def test_that_notes_on_the_config_come_with_the_start(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path, steps=1, num_iterations=1, task="add", max_size=1, eval_steps=1)
    rig.run()
    running = next(event for event in rig.sink.of(TrainerStatus) if event.status is RunStatus.RUNNING)
    assert "nothing is ever clipped" in running.message
    assert "held-out prompts" in running.message


def test_that_the_queue_may_hold_commands_of_several_kinds_at_once(tiny_model, tmp_path):
    rig = make_rig(tiny_model, tmp_path)
    rig.commands = queue.SimpleQueue()
    for command in (Pause(), Resume(), SetHyperparameters(beta=0.3), Step(), Resume()):
        rig.commands.put(command)
    assert rig.run() is RunStatus.FINISHED
    assert rig.sink.of(HyperparameterChanged)[0].step == 1
