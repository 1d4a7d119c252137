import json
from pathlib import Path

import pytest
import torch

from grpo_gui.errors import TrainingError
from grpo_gui.training.state import TrainingState, load_state, newest_state, save_state

STATE = TrainingState(
    {"weight": torch.tensor([[1.5, -2.0]])},
    {"moment": torch.tensor([3.0]), "random": torch.tensor([1, 255], dtype=torch.uint8)},
    {"step": 3, "random": [3, [1, 2], None]},
)


def test_that_a_state_comes_back_as_it_was(tmp_path: Path):
    state = load_state(save_state(tmp_path / "run", STATE))
    assert torch.equal(state.weights["weight"], STATE.weights["weight"])
    assert torch.equal(state.tensors["random"], STATE.tensors["random"])
    assert state.values == STATE.values


def test_that_weights_that_share_memory_can_be_saved(tmp_path: Path):
    tied = torch.ones(3)
    state = load_state(save_state(tmp_path, TrainingState({"a": tied, "b": tied}, {}, {})))
    assert torch.equal(state.weights["b"], tied)


def test_that_the_newest_state_and_the_one_before_are_kept(tmp_path: Path):
    paths = [save_state(tmp_path, STATE) for _ in range(4)]
    assert newest_state(tmp_path) == paths[-1]
    assert sorted(tmp_path.iterdir()) == paths[-2:]


def test_that_there_is_no_newest_state_in_an_empty_or_missing_folder(tmp_path: Path):
    assert newest_state(tmp_path) is None
    assert newest_state(tmp_path / "missing") is None


def test_that_a_state_that_was_half_written_does_not_count(tmp_path: Path):
    path = save_state(tmp_path, STATE)
    (tmp_path / "partial-000002").mkdir()
    assert newest_state(tmp_path) == path
    assert load_state(save_state(tmp_path, STATE)).values == STATE.values


@pytest.mark.parametrize("name", ["model.safetensors", "training.safetensors"])
def test_that_an_edited_file_is_refused(tmp_path: Path, name: str):
    path = save_state(tmp_path, STATE)
    content = bytearray((path / name).read_bytes())
    content[-1] ^= 1
    (path / name).write_bytes(content)
    with pytest.raises(TrainingError, match=name):
        load_state(path)


def test_that_a_truncated_or_missing_file_is_refused(tmp_path: Path):
    path = save_state(tmp_path, STATE)
    (path / "model.safetensors").write_bytes(b"")
    with pytest.raises(TrainingError, match="not what was saved"):
        load_state(path)
    (path / "model.safetensors").unlink()
    with pytest.raises(TrainingError, match="cannot be read"):
        load_state(path)
    (path / "state.json").write_text("{")
    with pytest.raises(TrainingError, match="cannot be read"):
        load_state(path)


def test_that_a_state_of_a_newer_program_is_refused(tmp_path: Path):
    path = save_state(tmp_path, STATE)
    content = json.loads((path / "state.json").read_text())
    (path / "state.json").write_text(json.dumps(content | {"format": 99}))
    with pytest.raises(TrainingError, match="newer grpo-gui"):
        load_state(path)


def test_that_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="could not be saved"):
        save_state(tmp_path / "file", STATE)
