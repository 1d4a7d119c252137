from dataclasses import replace

import pytest

from grpo_gui.errors import ModelError
from grpo_gui.language.model_folder import find_model
from grpo_gui.training.presets import preset_config
from grpo_gui.training.validation import problems


def test_that_a_folder_with_config_and_safetensors_is_a_model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(b"")
    assert find_model(tmp_path) == (tmp_path, "")


def test_that_a_gguf_file_is_found_by_its_name_and_in_its_folder(tmp_path):
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    assert find_model(file) == find_model(tmp_path) == (tmp_path, "small.gguf")
    (tmp_path / "large.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelError, match="holds 2 GGUF files"):
        find_model(tmp_path)


@pytest.mark.parametrize("name", ["model.pt", "pytorch_model.bin", "model.pth", "last.ckpt", "weights.pkl"])
def test_that_a_pickle_is_refused_with_the_way_to_convert_it_as_a_file_and_in_a_folder(tmp_path, name):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / name).write_bytes(b"\x80\x02")
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(ModelError, match=r"pickle.*save_pretrained"):
            find_model(path)


def test_that_other_folders_and_files_are_named(tmp_path):
    with pytest.raises(ModelError, match="no GGUF file"):
        find_model(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="a model folder needs"):
        find_model(tmp_path)
    with pytest.raises(ModelError, match="is a file"):
        find_model(tmp_path / "config.json")
    with pytest.raises(ModelError, match="There is no model folder"):
        find_model(tmp_path / "nowhere")


def test_that_the_form_says_what_is_wrong_with_a_model_before_the_start(tmp_path):
    config = replace(preset_config("default"), model=str(tmp_path))
    assert "no config.json" in problems(config)["model"]
    assert "There is no model folder" in problems(replace(config, model="a\0b"))["model"]
