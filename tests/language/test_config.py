import pytest

from grpo_gui.errors import ModelError
from grpo_gui.language.config import DecoderConfig, RopeScaling, token_ids

LLAMA = {
    "model_type": "llama",
    "vocab_size": 50,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


@pytest.mark.parametrize(
    "config",
    [
        DecoderConfig(),
        DecoderConfig(eos_token_ids=(2, 5), tie_word_embeddings=False, num_key_value_heads=2, bos_token_id=None),
        DecoderConfig(rope_theta=5e5, rope_scaling=RopeScaling(8.0, 1.0, 4.0, 64)),
    ],
)
def test_that_a_config_survives_being_written_and_read(config):
    assert DecoderConfig.from_json(config.to_json()) == config


def test_that_fields_older_files_leave_out_get_llamas_defaults():
    config = DecoderConfig.from_json(LLAMA)
    assert (config.num_key_value_heads, config.head_dim, config.rope_theta) == (4, 16, 10000.0)
    assert not config.tie_word_embeddings
    assert config.eos_token_ids == ()


def test_that_the_rotary_base_is_read_from_its_old_and_its_new_place():
    old = DecoderConfig.from_json({**LLAMA, "rope_theta": 5e5, "rope_scaling": LLAMA3})
    new = DecoderConfig.from_json({**LLAMA, "rope_parameters": {**LLAMA3, "rope_theta": 5e5}})
    assert old == new
    assert old.rope_theta == 5e5
    assert old.rope_scaling == RopeScaling(8.0, 1.0, 4.0, 64)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "gpt2"}, "gpt2"),
        ({"attention_bias": True}, "attention_bias"),
        ({"mlp_bias": True}, "mlp_bias"),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "yarn"),
        ({"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4}}, "factor"),
        ({"sliding_window": 16, "max_position_embeddings": 64}, "sliding"),
        ({"hidden_size": "wide"}, "wide"),
        ({"num_key_value_heads": 3}, "share"),
        ({"eos_token_id": "</s>"}, "eos_token_id"),
    ],
)
def test_that_a_config_this_decoder_cannot_run_is_refused_by_name(change, words):
    with pytest.raises(ModelError, match=words):
        DecoderConfig.from_json({**LLAMA, **change})


def test_that_a_missing_field_is_named():
    with pytest.raises(ModelError, match="vocab_size"):
        DecoderConfig.from_json({key: value for key, value in LLAMA.items() if key != "vocab_size"})


def test_that_end_tokens_may_be_none_one_or_several():
    assert token_ids(None) == ()
    assert token_ids(7) == (7,)
    assert token_ids([7, 8]) == (7, 8)
