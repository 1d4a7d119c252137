"""The decoder and its files against transformers, on tiny random Llamas."""

from dataclasses import replace

import pytest
import torch

from grpo_gui.language.config import RopeScaling
from grpo_gui.language.loading import load_policy, save_model
from grpo_gui.language.packed import packed_logps
from grpo_gui.language.sampling import SamplingConfig
from grpo_gui.language.tokenizer import build_builtin_tokenizer
from tests.language.reference import SMALL, random_decoder

pytestmark = [
    pytest.mark.hf,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
transformers = pytest.importorskip("transformers", reason="needs the hf extra")

TOKENIZER = build_builtin_tokenizer()
SHAPES = {
    "multi-head, tied": {},
    "grouped heads, untied": {"num_key_value_heads": 2, "tie_word_embeddings": False},
    "one key head, wide heads": {"num_key_value_heads": 1, "head_dim": 16},
    "other rotary base": {"rope_theta": 500000.0, "rms_norm_eps": 1e-6},
    "llama 3 rotary scaling": {"rope_scaling": RopeScaling(8.0, 1.0, 4.0, 16)},
}


@pytest.mark.parametrize("name", SHAPES)
def test_that_a_transformers_llama_loads_here_with_the_same_logits(name, tmp_path):
    shape = replace(SMALL, **SHAPES[name]).to_json()
    for key in ("architectures", "model_type", "rope_theta", "rope_scaling"):
        shape.pop(key)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(initializer_range=0.1, **shape))
    model.save_pretrained(tmp_path)
    TOKENIZER.raw.save(str(tmp_path / "tokenizer.json"))
    policy = load_policy(str(tmp_path), "cpu")
    assert policy.config == replace(SMALL, **SHAPES[name])
    ids = torch.randint(0, 100, (3, 40), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = model(ids).logits
        torch.testing.assert_close(policy.decoder(ids), expected, atol=1e-4, rtol=0)
    lengths = torch.full((3,), 10)
    prompts = [row[:30] for row in ids.tolist()]
    logps, _ = packed_logps(policy.decoder, prompts, ids[:, 30:], lengths, temperature=1.0, with_entropy=False)
    scored = expected[:, 29:-1].log_softmax(-1).gather(-1, ids[:, 30:].unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(logps.detach(), scored, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", SHAPES)
def test_that_a_saved_folder_loads_in_transformers_with_the_same_logits_and_greedy_text(name, tmp_path):
    config = replace(SMALL, **SHAPES[name])
    decoder = random_decoder(config)
    save_model(tmp_path, decoder, TOKENIZER, config)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer("Which is bigger? 9.11 or 9.9?\n", return_tensors="pt")["input_ids"]
    assert ids.tolist() == [TOKENIZER.encode_prompt("Which is bigger? 9.11 or 9.9?")]
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, decoder(ids), atol=1e-4, rtol=0)
    generated = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False)
    policy = load_policy(str(tmp_path), "cpu")
    greedy = SamplingConfig(temperature=0.0, max_new_tokens=12)
    sampled = policy.sample(ids.tolist(), 1, greedy, torch.Generator())
    text = tokenizer.decode(generated[0, ids.shape[1] :], skip_special_tokens=True)
    assert policy.tokenizer.decode(sampled.ids[0].tolist()) == text
    assert (tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id) == (0, 1, 2)
