"""A run whose reward is a function in a file of the user's."""

from pathlib import Path

import psutil
import pytest

from grpo_gui.commands import Resume, Stop
from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus, StepCompleted, TrainerStatus
from grpo_gui.tasks.reward_file import confirm
from grpo_gui.training.config import RewardSpec
from tests.training.fakes import Rig, tiny_config
from tests.training.test_trainer import post_when_paused

GOOD = "def mine(prompts, completions, answer, **columns): return [len(text) / 10 for text in completions]\n"
BROKEN = "def mine(prompts, completions, **columns): raise ValueError('broken on purpose')\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: tmp_path / "confirmed.json")
    return tmp_path / "rewards.py"


def make_rig(tiny_model: Path, file: Path, source: str, **changes: object) -> Rig:
    file.write_text(source)
    confirm(file)
    rewards = (RewardSpec("mine", "python", 2.0, f"{file}::mine"),)
    return Rig(tiny_config(tiny_model, rewards=rewards, steps=2, **changes), file.parent / "states")


def test_that_a_function_of_the_user_gives_the_reward_and_its_process_ends_with_the_run(tiny_model, file):
    rig = make_rig(tiny_model, file, GOOD, eval_steps=1, eval_prompts=4)
    assert rig.run() is RunStatus.FINISHED
    sample = rig.sink.of(StepCompleted)[0].groups[0].completions[0]
    assert dict(sample.rewards)["mine"] == pytest.approx(len(sample.text) / 10)
    assert sample.reward == pytest.approx(2 * len(sample.text) / 10)
    assert psutil.Process().children() == []


def test_that_a_failing_function_pauses_the_run_and_a_mended_one_goes_on(tiny_model, file):
    straight = make_rig(tiny_model, file, GOOD)
    straight.run()
    rig = make_rig(tiny_model, file, BROKEN)
    paused: list[TrainerStatus] = []

    def mend(event) -> None:
        if isinstance(event, TrainerStatus) and event.status is RunStatus.PAUSED:
            paused.append(event)
            file.write_text(GOOD)
            confirm(file)
            rig.commands.put(Resume())

    rig.sink.on_event = mend
    assert rig.run() is RunStatus.FINISHED
    assert len(paused) == 1
    assert "raised ValueError: broken on purpose" in paused[0].message
    assert "press Resume" in paused[0].message
    assert "Completion:" in paused[0].details
    assert "Traceback" in paused[0].details
    assert rig.sink.steps == straight.sink.steps


def test_that_a_run_with_a_failing_function_can_be_stopped(tiny_model, file):
    rig = post_when_paused(make_rig(tiny_model, file, BROKEN), [Resume()], [Stop()])
    assert rig.run() is RunStatus.STOPPED
    assert rig.sink.statuses.count(RunStatus.PAUSED) == 2


def test_that_a_file_that_changed_since_it_was_confirmed_does_not_start(tiny_model, file):
    rig = make_rig(tiny_model, file, GOOD)
    file.write_text(GOOD + "\n")
    with pytest.raises(BadInputError, match="changed since you confirmed"):
        rig.run()


def test_that_rewards_that_are_all_none_train_nothing(tiny_model, file):
    rig = make_rig(tiny_model, file, "def mine(completions): return [None for _ in completions]\n")
    assert rig.run() is RunStatus.FINISHED
    for group in rig.sink.of(StepCompleted)[0].groups:
        assert {(completion.reward, completion.advantage) for completion in group.completions} == {(None, 0.0)}
