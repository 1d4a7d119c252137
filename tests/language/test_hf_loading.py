"""Everything that users hand in wrongly as a model."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from grpo_gui.errors import BadInputError, MissingExtraError, ModelError
from grpo_gui.language.hf_loading import ModelOptions, load_tokenizer_of, open_policy
from tests.language.hf_models import make_hf_model

pytest.importorskip("transformers", reason="needs the extra hf")
pytestmark = pytest.mark.hf


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_hf_model(tmp_path / "model")


def change_json(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def refused(folder: Path, words: str, options: ModelOptions | None = None) -> None:
    with pytest.raises(ModelError, match=words):
        open_policy(str(folder), "cpu", options or ModelOptions())


def test_that_an_unknown_architecture_is_refused(folder):
    change_json(folder / "config.json", model_type="brain", architectures=["BrainForCausalLM"])
    refused(folder, "cannot be loaded .*brain")


def test_that_code_in_a_model_folder_is_never_run(folder, tmp_path):
    auto_map = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    change_json(folder / "config.json", model_type="own", auto_map=auto_map)
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    refused(folder, "needs code of its own, which is never run")
    assert not (tmp_path / "ran").exists()


def test_that_a_missing_tokenizer_is_named(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    refused(folder, str(folder))


def test_that_a_vocabulary_that_does_not_fit_is_named(tmp_path):
    refused(make_hf_model(tmp_path / "small", vocab_size=50), "has 100 tokens, but the model only 50")


def test_that_half_a_safetensors_file_is_refused(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refused(folder, "cannot be loaded")


def test_that_a_lacking_tensor_is_named_instead_of_drawn_at_random(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    weights.pop("model.layers.1.mlp.up_proj.weight")
    save_file(weights, path, metadata={"format": "pt"})
    refused(folder, "lacks the weights model.layers.1.mlp.up_proj.weight")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt"])
def test_that_a_pickle_is_refused_with_the_way_to_convert_it(folder, name):
    (folder / "model.safetensors").unlink()
    torch.save({"x": torch.zeros(1)}, folder / name)
    refused(folder, "which can run code when opened.*convert it once")


def test_that_a_folder_without_a_model_and_one_with_two_gguf_files_are_refused(tmp_path):
    refused(tmp_path / "missing", "There is no model folder")
    refused(tmp_path, "no config.json and no GGUF file")
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    refused(tmp_path, "2 GGUF files; name one of them")
    refused(tmp_path / "a.gguf", "cannot be loaded")


def test_that_a_model_without_a_chat_template_takes_text_and_refuses_chats(tmp_path):
    folder = make_hf_model(tmp_path / "model", template=None)
    tokenizer = open_policy(str(folder), "cpu", ModelOptions(system_prompt="Hm.")).tokenizer
    assert tokenizer.decode(tokenizer.encode_prompt("2+2?")) == "Hm.\n\n2+2?"
    with pytest.raises(ModelError, match="no chat template"):
        tokenizer.encode_chat((("user", "2+2?"),))


def test_that_a_system_prompt_goes_before_chats_without_one(folder):
    tokenizer = open_policy(str(folder), "cpu", ModelOptions(system_prompt="Hm.")).tokenizer
    assert tokenizer.decode(tokenizer.encode_prompt("2+2?")) == "[system]Hm.\n[user]2+2?\n[assistant]"
    own = tokenizer.encode_chat((("system", "Own."), ("user", "2+2?")))
    assert tokenizer.decode(own) == "[system]Own.\n[user]2+2?\n[assistant]"
    with pytest.raises(ModelError, match=r"refuses a prompt .no tools here"):
        tokenizer.encode_chat((("tool", "x"),))


def test_that_the_ends_come_from_the_generation_config_and_pad_may_be_one(folder):
    change_json(folder / "generation_config.json", eos_token_id=[2, 5])
    change_json(folder / "tokenizer_config.json", pad_token="<eos>")
    tokenizer = open_policy(str(folder), "cpu", ModelOptions()).tokenizer
    assert tokenizer.eos_ids == {2, 5}
    assert tokenizer.pad_id == 2


def test_that_prompts_longer_than_the_context_are_cut_at_their_beginning(folder):
    tokenizer = load_tokenizer_of(str(folder), ModelOptions(max_completion_length=28))
    ids = tokenizer.encode_prompt("x" * 500 + "end")
    assert len(ids) == 100
    assert tokenizer.decode(ids).endswith("xend\n[assistant]")
    assert tokenizer.full_length((), "x" * 500) > 500
    with pytest.raises(BadInputError, match="leaves no room for a prompt"):
        open_policy(str(folder), "cpu", ModelOptions(max_completion_length=128))


def test_that_missing_packages_are_named_with_the_command(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(MissingExtraError, match=r'LoRA needs peft.*pip install "grpo-gui\[hf\]"'):
        open_policy(str(folder), "cpu", ModelOptions(lora_rank=4))
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r'needs transformers.*pip install "grpo-gui\[hf\]"'):
        open_policy(str(folder), "cpu", ModelOptions())


def test_that_an_adapter_whose_model_is_gone_is_refused(tmp_path):
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(tmp_path / "gone")}))
    refused(tmp_path, "was made for the model .*gone, which is not there")
