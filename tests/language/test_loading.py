import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from grpo_gui.errors import ModelError
from grpo_gui.language.loading import load_policy, save_model
from grpo_gui.language.tokenizer import build_builtin_tokenizer
from tests.language.reference import SMALL, random_decoder

TOKENIZER = build_builtin_tokenizer()
IDS = torch.tensor([TOKENIZER.encode_prompt("9.11 or 9.9?")])


@pytest.fixture
def folder(tmp_path):
    save_model(tmp_path / "model", random_decoder(), TOKENIZER, SMALL)
    return tmp_path / "model"


def edit(path, **changes):
    values = json.loads(path.read_text())
    values.update(changes)
    path.write_text(json.dumps({key: value for key, value in values.items() if value != "remove"}))


@pytest.mark.parametrize("tied", [True, False])
def test_that_a_saved_model_loads_with_the_same_logits_and_tokens(tmp_path, tied):
    config = replace(SMALL, tie_word_embeddings=tied, num_key_value_heads=2)
    decoder = random_decoder(config)
    save_model(tmp_path / "new" / "model", decoder, TOKENIZER, config)
    policy = load_policy(str(tmp_path / "new" / "model"), "cpu")
    assert policy.config == config
    assert torch.equal(policy.decoder(IDS), decoder(IDS))
    assert all(parameter.requires_grad for parameter in policy.parameters())
    loaded = policy.tokenizer
    assert loaded.special == TOKENIZER.special
    assert loaded.encode_prompt("<eos>9") == TOKENIZER.encode_prompt("<eos>9")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_that_files_in_sixteen_bit_load_as_float32(tmp_path, dtype):
    save_model(tmp_path, random_decoder(), TOKENIZER, SMALL, dtype)
    assert {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()} == {dtype}
    policy = load_policy(str(tmp_path), "cpu")
    assert {parameter.dtype for parameter in policy.parameters()} == {torch.float32}
    torch.testing.assert_close(policy.decoder(IDS), random_decoder()(IDS), atol=0.5, rtol=0)


def test_that_sharded_weights_load(folder):
    weights = load_file(folder / "model.safetensors")
    expected = load_policy(str(folder), "cpu").decoder(IDS)
    names = sorted(weights)
    shards = {"model-1.safetensors": names[:5], "model-2.safetensors": names[5:]}
    for file, parts in shards.items():
        save_file({name: weights[name] for name in parts}, folder / file)
    places = {name: file for file, parts in shards.items() for name in parts}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    (folder / "model.safetensors").unlink()
    assert torch.equal(load_policy(str(folder), "cpu").decoder(IDS), expected)
    (folder / "model-2.safetensors").unlink()
    with pytest.raises(ModelError, match=r"model-2\.safetensors is missing"):
        load_policy(str(folder), "cpu")


def test_that_a_tied_head_in_the_file_and_old_rotary_buffers_are_ignored(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    expected = load_policy(str(folder), "cpu").decoder(IDS)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
    weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
    save_file(weights, path)
    assert torch.equal(load_policy(str(folder), "cpu").decoder(IDS), expected)


def test_that_all_end_tokens_named_in_any_file_count(folder):
    edit(folder / "config.json", eos_token_id=[2, 7])
    edit(folder / "generation_config.json", eos_token_id=9)
    assert load_policy(str(folder), "cpu").tokenizer.eos_ids == {2, 7, 9}


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_that_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        load_policy(str(folder), "cpu")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
@pytest.mark.parametrize("content", [b"", b"[1, 2]", b"\xff\xfe{"])
def test_that_a_damaged_file_is_named(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        load_policy(str(folder), "cpu")


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_that_an_empty_object_is_no_model_file(folder, name):
    (folder / name).write_bytes(b"{}")
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        load_policy(str(folder), "cpu")


def test_that_pickled_weights_are_refused(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pytorch_model\.bin.*never loaded"):
        load_policy(str(folder), "cpu")


def test_that_missing_unknown_and_misshapen_weights_are_named(folder):
    path = folder / "model.safetensors"
    weights = load_file(path)
    name = "model.layers.1.mlp.up_proj.weight"
    save_file({key: tensor for key, tensor in weights.items() if key != name}, path)
    with pytest.raises(ModelError, match=f"lacks the weights {name}"):
        load_policy(str(folder), "cpu")
    save_file({**weights, "model.extra.bias": torch.ones(1)}, path)
    with pytest.raises(ModelError, match=r"does not know: model\.extra\.bias"):
        load_policy(str(folder), "cpu")
    save_file({**weights, name: torch.ones(2, 2)}, path)
    with pytest.raises(ModelError, match=rf"{name}.*\(2, 2\)"):
        load_policy(str(folder), "cpu")


def test_that_a_tokenizer_that_cuts_or_fills_texts_is_told_not_to(folder):
    tokenizer = build_builtin_tokenizer()
    tokenizer.raw.enable_truncation(4)
    tokenizer.raw.enable_padding(length=40)
    tokenizer.raw.save(str(folder / "tokenizer.json"))
    assert load_policy(str(folder), "cpu").tokenizer.encode_prompt("9.11 or 9.9?") == IDS[0].tolist()


def test_that_a_tokenizer_larger_than_the_model_is_refused(folder):
    edit(folder / "config.json", vocab_size=60)
    with pytest.raises(ModelError, match="100 tokens"):
        load_policy(str(folder), "cpu")


def test_that_a_model_without_an_end_token_is_refused(folder):
    edit(folder / "config.json", eos_token_id=None)
    (folder / "generation_config.json").unlink()
    edit(folder / "tokenizer_config.json", eos_token="remove")
    with pytest.raises(ModelError, match="end-of-text"):
        load_policy(str(folder), "cpu")


def test_that_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ModelError, match="does not exist"):
        load_policy(str(tmp_path / "nowhere"), "cpu")


def test_that_saving_where_a_file_stands_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ModelError, match="cannot be saved"):
        save_model(tmp_path / "taken", random_decoder(), TOKENIZER, SMALL)
