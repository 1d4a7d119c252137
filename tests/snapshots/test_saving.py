import json
import math
from dataclasses import replace

import pytest
import torch

from grpo_gui.errors import SnapshotError
from grpo_gui.language.loading import load_policy
from grpo_gui.snapshots.folders import disk_bytes, free_name, sha256_of
from grpo_gui.snapshots.manifest import MANIFEST, Parent, read_manifest
from grpo_gui.snapshots.saving import save_snapshot
from grpo_gui.training.state import TrainingState, save_state
from tests.snapshots.samples import MANIFEST as SAMPLE
from tests.snapshots.samples import make_snapshot


def test_that_a_snapshot_is_complete(snapshot):
    names = {path.name for path in snapshot.iterdir()}
    assert names == {
        "model.safetensors",
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "snapshot.json",
    }


def test_that_the_manifest_comes_back_as_it_was_with_the_hash_of_each_file(snapshot):
    manifest = read_manifest(snapshot)
    assert replace(manifest, files={}) == SAMPLE
    assert manifest.files.keys() == {path.name for path in snapshot.iterdir()} - {MANIFEST}
    for name, entry in manifest.files.items():
        assert (entry.sha256, entry.size_bytes) == (sha256_of(snapshot / name), (snapshot / name).stat().st_size)


def test_that_a_branch_and_a_metric_that_was_not_finite_survive(tmp_path, tiny_model):
    parent = Parent("/models/mine", "f00", 2, 40)
    saved = make_snapshot(tmp_path / "a", tiny_model, parent=parent, metrics={"kl": math.inf})
    manifest = read_manifest(saved.path)
    assert manifest.parent == parent
    assert math.isnan(manifest.metrics["kl"])


def test_that_the_files_are_those_of_the_policy(snapshot, tiny_model):
    one, other = load_policy(str(tiny_model), "cpu").state_dict(), load_policy(str(snapshot), "cpu").state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_that_nothing_is_ever_overwritten(snapshot, tiny_model):
    before = (snapshot / MANIFEST).read_bytes()
    with pytest.raises(SnapshotError, match="is there already and is not overwritten"):
        make_snapshot(snapshot, tiny_model, step=51)
    assert (snapshot / MANIFEST).read_bytes() == before
    assert free_name(snapshot.parent, snapshot.name).name == "step-000050-2"


def test_that_a_snapshot_that_cannot_be_written_leaves_nothing(tmp_path):
    def fail(folder):
        (folder / "model.safetensors").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(SnapshotError, match="No space left on device"):
        save_snapshot(tmp_path / "a", SAMPLE, fail)
    assert list(tmp_path.iterdir()) == []


def test_that_the_training_state_is_taken_along_and_its_weights_kept_once(tmp_path, tiny_model):
    policy = load_policy(str(tiny_model), "cpu")
    state = save_state(tmp_path / "states", TrainingState(policy.state_dict(), {"m": torch.ones(1000)}, {"step": 50}))
    saved = make_snapshot(tmp_path / "snapshots" / "a", tiny_model, state=state)
    assert saved.manifest.has_training_state
    for name in ("model.safetensors", "training.safetensors", "state.json"):
        assert (saved.path / "training_state" / name).samefile(state / name)
    assert (saved.path / "model.safetensors").samefile(state / "model.safetensors")
    together = disk_bytes([saved.path, state])
    assert together == saved.manifest.size_bytes + manifest_bytes(saved.path)


def manifest_bytes(folder):
    return (folder / MANIFEST).stat().st_size


def test_that_a_manifest_of_a_newer_program_is_refused(snapshot):
    values = json.loads((snapshot / MANIFEST).read_text())
    (snapshot / MANIFEST).write_text(json.dumps(values | {"format": 99}))
    with pytest.raises(SnapshotError, match="newer grpo-gui"):
        read_manifest(snapshot)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 1}', "\0"])
def test_that_a_damaged_manifest_is_a_sentence(snapshot, text):
    (snapshot / MANIFEST).write_text(text)
    with pytest.raises(SnapshotError, match=r"snapshot\.json cannot be read"):
        read_manifest(snapshot)
