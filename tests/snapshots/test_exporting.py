"""Exports, as this program and as transformers in a process of its own load them."""

import json
import os
import subprocess
import sys

import pytest
import torch

from grpo_gui.errors import BadInputError, SnapshotError
from grpo_gui.language.loading import load_policy
from grpo_gui.language.sampling import SamplingConfig
from grpo_gui.snapshots.exporting import export_snapshot
from grpo_gui.snapshots.manifest import read_manifest
from grpo_gui.snapshots.verifying import verify
from grpo_gui.training.state import TrainingState, save_state
from tests.snapshots.samples import make_snapshot

PROMPTS = ["Which is bigger? 9.11 or 9.9?", "Sort the digits: 5312", "12 + 30 = "]
NEW_TOKENS = 12

_ASK_TRANSFORMERS = """
import json, sys, warnings
warnings.simplefilter("ignore")
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, prompts, new = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
tokenizer = AutoTokenizer.from_pretrained(folder)
stored = str(AutoModelForCausalLM.from_pretrained(folder, dtype="auto").dtype)
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
answers = []
for prompt in prompts:
    ids = tokenizer(prompt + "\\n", return_tensors="pt")
    with torch.no_grad():
        logits = model(**ids).logits[0, -1]
        grown = model.generate(**ids, do_sample=False, max_new_tokens=new)
    text = tokenizer.decode(grown[0, ids.input_ids.shape[1]:], skip_special_tokens=True)
    answers.append({"ids": ids.input_ids[0].tolist(), "logits": logits.tolist(), "text": text})
print(json.dumps({"dtype": stored, "answers": answers}))
"""


def ask_transformers(folder):
    result = subprocess.run(
        [sys.executable, "-c", _ASK_TRANSFORMERS, str(folder), json.dumps(PROMPTS), str(NEW_TOKENS)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def ask_ourselves(folder):
    policy = load_policy(str(folder), "cpu")
    answers = []
    for prompt in PROMPTS:
        ids = policy.tokenizer.encode_prompt(prompt)
        with torch.no_grad():
            logits = policy.decoder(torch.tensor([ids]))[0, -1]
        generator = torch.Generator().manual_seed(0)
        sampled = policy.sample([ids], 1, SamplingConfig(0.0, max_new_tokens=NEW_TOKENS), generator)
        text = policy.tokenizer.decode(sampled.ids[0, : int(sampled.lengths[0])].tolist())
        answers.append({"ids": ids, "logits": logits.tolist(), "text": text})
    return answers


@pytest.mark.hf
@pytest.mark.parametrize(("dtype", "stored"), [("fp32", "torch.float32"), ("bf16", "torch.bfloat16")])
def test_that_transformers_gives_the_same_logits_and_the_same_text(tmp_path, dtype, stored):
    pytest.importorskip("transformers", reason="needs the hf extra (transformers)")
    snapshot = make_snapshot(tmp_path / "snapshot", "builtin").path
    export_snapshot(snapshot, tmp_path / "export", dtype)
    theirs = ask_transformers(tmp_path / "export")
    assert theirs["dtype"] == stored
    for ours, other in zip(ask_ourselves(tmp_path / "export"), theirs["answers"], strict=True):
        assert other["ids"] == ours["ids"]
        assert torch.allclose(torch.tensor(other["logits"]), torch.tensor(ours["logits"]), atol=1e-4, rtol=0)
        assert other["text"] == ours["text"]
        assert ours["text"]


@pytest.mark.parametrize(("dtype", "tolerance"), [("fp32", 0.0), ("bf16", 2**-8), ("fp16", 2**-11)])
def test_that_an_export_has_the_weights_in_the_precision_asked_for(tmp_path, snapshot, dtype, tolerance):
    export_snapshot(snapshot, tmp_path / "export", dtype)
    one, other = (load_policy(str(path), "cpu").state_dict() for path in (snapshot, tmp_path / "export"))
    for name, weight in one.items():
        assert torch.all((weight - other[name]).abs() <= tolerance * weight.abs() + 1e-7)
    config = json.loads((tmp_path / "export" / "config.json").read_text())
    assert config["dtype"] == {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}[dtype]
    smaller = (tmp_path / "export" / "model.safetensors").stat().st_size
    assert (smaller < (snapshot / "model.safetensors").stat().st_size) == (dtype != "fp32")


def test_that_the_training_state_stays_behind_and_the_export_is_itself_verified(tmp_path, tiny_model):
    policy = load_policy(str(tiny_model), "cpu")
    state = save_state(tmp_path / "states", TrainingState(policy.state_dict(), {"m": torch.ones(3)}, {}))
    snapshot = make_snapshot(tmp_path / "a", tiny_model, state=state).path
    export_snapshot(snapshot, tmp_path / "export" / "deep", "fp16")
    assert not (tmp_path / "export" / "deep" / "training_state").exists()
    assert not verify(tmp_path / "export" / "deep").has_training_state
    assert read_manifest(tmp_path / "export" / "deep").step == 50


def test_that_an_export_goes_into_an_empty_folder_but_over_nothing(tmp_path, snapshot):
    target = tmp_path / "export"
    target.mkdir()
    export_snapshot(snapshot, target)
    before = (target / "model.safetensors").read_bytes()
    with pytest.raises(BadInputError, match="is not overwritten"):
        export_snapshot(snapshot, target)
    assert (target / "model.safetensors").read_bytes() == before


def test_that_an_export_that_does_not_fit_names_its_own_folder_and_leaves_nothing(tmp_path, snapshot):
    resource = pytest.importorskip("resource", reason="a limit of the size of files is needed")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(SnapshotError, match=r"out cannot be written .* choose a folder with room"):
            export_snapshot(snapshot, tmp_path / "out", "fp32")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "out").exists()


def test_that_a_damaged_snapshot_is_not_exported(tmp_path, snapshot):
    (snapshot / "model.safetensors").write_bytes(b"x")
    with pytest.raises(SnapshotError, match="were written"):
        export_snapshot(snapshot, tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_that_weights_too_large_for_fp16_are_refused(tmp_path, tiny_model):
    policy = load_policy(str(tiny_model), "cpu")
    with torch.no_grad():
        next(policy.parameters())[0, 0] = 1e6
    from grpo_gui.snapshots.saving import save_snapshot
    from tests.snapshots.samples import MANIFEST

    save_snapshot(tmp_path / "a", MANIFEST, policy.save)
    with pytest.raises(SnapshotError, match="export as bf16 or fp32"):
        export_snapshot(tmp_path / "a", tmp_path / "export", "fp16")
    assert not (tmp_path / "export").exists()


def test_that_an_unknown_precision_is_refused(tmp_path, snapshot):
    with pytest.raises(BadInputError, match="fp32, bf16, fp16"):
        export_snapshot(snapshot, tmp_path / "export", "int4")
