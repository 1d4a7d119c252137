"""Runs with models, data and rewards of the user's own."""

import json
from pathlib import Path

import pytest

from grpo_gui.commands import Pause, Stop
from grpo_gui.events import RunStarted, RunStatus, SnapshotSaved, StepCompleted
from grpo_gui.snapshots.exporting import export_snapshot
from grpo_gui.snapshots.loading import load_snapshot
from grpo_gui.tasks.reward_file import confirm
from grpo_gui.training.config import RewardSpec, TrainConfig
from tests.language.hf_models import make_hf_model
from tests.training.fakes import Rig
from tests.training.test_trainer import post_when_paused

pytest.importorskip("transformers", reason="needs the extra hf")
pytestmark = pytest.mark.hf

SUMS = [(a, b) for a in range(2, 7) for b in range(2, 7)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    chats = [[{"role": "user", "content": f"What is {a}+{b}?"}] for a, b in SUMS]
    rows = [{"prompt": chat, "answer": str(a + b)} for chat, (a, b) in zip(chats, SUMS, strict=True)]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "sums.jsonl"


@pytest.fixture
def rewards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RewardSpec, ...]:
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: tmp_path / "confirmed.json")
    file = tmp_path / "mine.py"
    file.write_text(
        "def short(prompts, completions, **columns):\n"
        "    return [-len(c[0]['content'] if isinstance(c, list) else c) / 100 for c in completions]\n"
    )
    confirm(file)
    return (RewardSpec("short", "python", 1.0, f"{file}::short"),)


def config_of(model: Path, data: Path, rewards: tuple[RewardSpec, ...], **changes: object) -> TrainConfig:
    values = {
        "task": "file",
        "prompt_file": str(data),
        "rewards": rewards,
        "model": str(model),
        "steps": 3,
        "prompts_per_step": 2,
        "num_generations": 4,
        "max_completion_length": 8,
        "eval_steps": 0,
        "device": "cpu",
    }
    return TrainConfig(**values | changes)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_that_another_architecture_trains_whole_and_through_an_adapter(tmp_path, data, rewards, lora_rank):
    model = make_hf_model(tmp_path / "model")
    rig = Rig(config_of(model, data, rewards, lora_rank=lora_rank, learning_rate=1e-2), tmp_path / "states")
    assert rig.run() is RunStatus.FINISHED
    steps = rig.sink.of(StepCompleted)
    first, last = dict(steps[0].metrics), dict(steps[-1].metrics)
    assert first["check/first_ratio"] < 1e-3
    assert last["kl"] > 0
    prompt_ids = steps[0].groups[0].prompt_token_ids
    assert rig.sink.of(RunStarted)[0].parameters > 0
    assert len(prompt_ids) > len(steps[0].groups[0].prompt)


@pytest.mark.parametrize("lora_rank", [0, 4])
def test_that_each_snapshot_of_such_a_run_has_other_weights_than_the_one_before(tmp_path, data, rewards, lora_rank):
    model = make_hf_model(tmp_path / "model")
    config = config_of(model, data, rewards, lora_rank=lora_rank, learning_rate=1e-2, save_steps=1)
    rig = Rig(config, tmp_path / "states")
    rig.run()
    first, *later = (dict(event.measures) for event in rig.sink.of(SnapshotSaved))
    assert first.keys() == {"snapshot/size_gb"}  # transformers' own code runs it, which is not loaded once more
    assert len(later) == 2
    assert all(one["snapshot/weights_change"] > 0 for one in later)


def test_that_a_run_with_an_adapter_goes_on_after_a_pause_as_if_it_had_not_stopped(tmp_path, data, rewards):
    config = config_of(make_hf_model(tmp_path / "model"), data, rewards, lora_rank=2, learning_rate=1e-2)
    straight = Rig(config, tmp_path / "a")
    straight.run()
    cut = post_when_paused(Rig(config, tmp_path / "b"), [Stop()])

    def pause_after_two(event) -> None:
        if isinstance(event, StepCompleted) and event.step == 2:
            cut.commands.put(Pause())
            cut.commands.put(Stop())

    cut.sink.on_event = pause_after_two
    assert cut.run() is RunStatus.STOPPED
    resumed = Rig(config, tmp_path / "b", resume=True)
    assert resumed.run() is RunStatus.FINISHED
    one, other = straight.sink.of(StepCompleted)[-1], resumed.sink.of(StepCompleted)[-1]
    assert [c.token_ids for g in one.groups for c in g.completions] == [
        c.token_ids for g in other.groups for c in g.completions
    ]
    assert dict(one.metrics)["loss"] == dict(other.metrics)["loss"]


def test_that_the_export_of_an_adapter_is_a_whole_model_with_the_adapter_merged(tmp_path, data, rewards):
    import torch
    import transformers

    config = config_of(make_hf_model(tmp_path / "model"), data, rewards, lora_rank=2, learning_rate=1e-2)
    rig = Rig(config, tmp_path / "run")
    rig.run()
    (saved,) = rig.sink.of(SnapshotSaved)
    assert (Path(saved.path) / "adapter_model.safetensors").is_file()
    assert (Path(saved.path) / "config.json").is_file()
    export_snapshot(Path(saved.path), tmp_path / "export")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "export", local_files_only=True)
    policy = load_snapshot(Path(saved.path), "cpu")
    ids = torch.tensor([policy.tokenizer.encode_prompt("What is 2+2?")])
    base = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model", local_files_only=True)
    with torch.no_grad():
        merged, before = model(input_ids=ids).logits, base(input_ids=ids).logits
        torch.testing.assert_close(merged, policy.model(input_ids=ids).logits, atol=1e-4, rtol=0)
    assert not torch.allclose(merged, before, atol=1e-3)
