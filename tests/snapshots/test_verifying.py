import json

import pytest
import torch

from grpo_gui.errors import ModelError, SnapshotError
from grpo_gui.snapshots.folders import sha256_of
from grpo_gui.snapshots.loading import load_checked, load_snapshot
from grpo_gui.snapshots.manifest import MANIFEST
from grpo_gui.snapshots.verifying import verify


def test_that_a_whole_snapshot_is_verified_and_loads(snapshot):
    assert verify(snapshot, manifest_sha256=sha256_of(snapshot / MANIFEST)).step == 50
    assert load_checked(str(snapshot), "cpu").tokenizer.vocab_size == 100


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "generation_config.json"])
def test_that_an_edited_file_is_refused_by_name(snapshot, name):
    content = bytearray((snapshot / name).read_bytes())
    content[-3] ^= 1
    (snapshot / name).write_bytes(content)
    with pytest.raises(SnapshotError, match=rf"{name} is not what was written"):
        load_snapshot(snapshot, "cpu")


def test_that_a_truncated_file_is_refused_with_both_sizes(snapshot):
    path = snapshot / "model.safetensors"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: size // 2])
    with pytest.raises(SnapshotError, match=f"has {size // 2} bytes, but {size} were written"):
        load_snapshot(snapshot, "cpu")


def test_that_a_missing_file_or_folder_is_a_sentence(snapshot):
    (snapshot / "tokenizer.json").unlink()
    with pytest.raises(SnapshotError, match=r"tokenizer\.json is missing"):
        load_snapshot(snapshot, "cpu")
    with pytest.raises(SnapshotError, match="moved or deleted"):
        verify(snapshot / "nowhere")
    (snapshot / MANIFEST).unlink()
    with pytest.raises(SnapshotError, match="is no snapshot"):
        verify(snapshot)


def test_that_an_edited_manifest_is_noticed_by_its_own_hash(snapshot):
    known = sha256_of(snapshot / MANIFEST)
    values = json.loads((snapshot / MANIFEST).read_text())
    (snapshot / MANIFEST).write_text(json.dumps(values | {"step": 51}))
    assert verify(snapshot).step == 51
    with pytest.raises(SnapshotError, match="was changed since"):
        verify(snapshot, manifest_sha256=known)


def test_that_a_damaged_training_state_matters_only_to_a_resume(tmp_path, tiny_model):
    from tests.snapshots.samples import make_snapshot

    state = tmp_path / "state"
    state.mkdir()
    (state / "training.safetensors").write_bytes(b"abc")
    saved = make_snapshot(tmp_path / "a", tiny_model, state=state)
    (saved.path / "training_state" / "training.safetensors").write_bytes(b"abd")
    assert load_snapshot(saved.path, "cpu").device.type == "cpu"
    with pytest.raises(SnapshotError, match=r"training\.safetensors is not what was written"):
        verify(saved.path)


@pytest.mark.parametrize("name", ["model.bin", "model.pt", "model.pth", "model.ckpt"])
def test_that_a_pickle_is_refused_with_the_way_to_convert_it(tmp_path, snapshot, name):
    torch.save({"a": torch.ones(1)}, tmp_path / name)
    with pytest.raises(SnapshotError, match=r"is a pickle.*convert it once with transformers.*save_pretrained"):
        load_checked(str(tmp_path / name), "cpu")
    folder = tmp_path / "pickled"
    snapshot.rename(folder)
    (folder / MANIFEST).unlink()
    (folder / "model.safetensors").unlink()
    torch.save({"a": torch.ones(1)}, folder / name)
    with pytest.raises(ModelError, match=r"only as pickle.*convert it once with transformers"):
        load_checked(str(folder), "cpu")


def test_that_another_file_is_refused_too(snapshot):
    with pytest.raises(SnapshotError, match="a snapshot is a folder"):
        load_checked(str(snapshot / "model.safetensors"), "cpu")
