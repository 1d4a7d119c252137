from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_gui.language import attention
from grpo_gui.language.layout import ROW_MULTIPLE, lay_out
from grpo_gui.language.packed import packed_logps
from tests.language.reference import SMALL, plain_logps, random_decoder

DECODERS = {kv_heads: random_decoder(replace(SMALL, num_key_value_heads=kv_heads)) for kv_heads in (4, 2, 1)}
GROUPS = {
    "equal lengths": ([4, 4, 4], [5] * 6),
    "ragged prompts": ([1, 6, 3], [4] * 6),
    "ragged completions": ([4, 4, 4], [1, 7, 3, 3, 2, 7]),
    "all ragged": ([2, 7, 1], [6, 1, 1, 4, 2, 9]),
    "one token each": ([3, 3], [1, 1, 1, 1]),
    "one prompt": ([5], [2, 6, 1]),
    "a prompt of one token, one completion": ([1], [1]),
    "many rows": ([9, 12], [8] * 16),
}


@pytest.fixture(params=["direct", "general"])
def way(request, monkeypatch):
    if request.param == "general":
        monkeypatch.setattr(attention, "_DIRECT_SCORES", 0)
    return request.param


def make_groups(prompt_lengths, lengths, spare=2):
    generator = torch.Generator().manual_seed(len(lengths))
    prompts = [torch.randint(0, 100, (length,), generator=generator).tolist() for length in prompt_lengths]
    completions = torch.randint(0, 100, (len(lengths), max(lengths) + spare), generator=generator)
    return prompts, completions, torch.tensor(lengths)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("name", GROUPS)
def test_that_packed_log_probabilities_and_gradients_equal_the_plain_ones(name, kv_heads):
    decoder = DECODERS[kv_heads]
    groups = make_groups(*GROUPS[name])
    found, entropy = packed_logps(decoder, *groups, temperature=0.7, with_entropy=True)
    expected, expected_entropy = plain_logps(decoder, *groups, temperature=0.7)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(entropy, expected_entropy, atol=1e-5, rtol=0)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    parameters = list(decoder.parameters())
    gradients = torch.autograd.grad((found * weights).sum(), parameters)
    expected_gradients = torch.autograd.grad((expected * weights).sum(), parameters)
    for one, other in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-4)


@settings(max_examples=20)
@given(st.data())
def test_that_any_mixture_of_lengths_gives_the_plain_log_probabilities(data):
    prompt_lengths = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    group = data.draw(st.integers(1, 4))
    count = len(prompt_lengths) * group
    lengths = data.draw(st.lists(st.integers(1, 8), min_size=count, max_size=count))
    groups = make_groups(prompt_lengths, lengths, spare=data.draw(st.integers(0, 2)))
    with torch.no_grad():
        found, _ = packed_logps(DECODERS[2], *groups, temperature=1.0, with_entropy=False)
        expected, _ = plain_logps(DECODERS[2], *groups)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


@pytest.mark.usefixtures("way")
def test_that_a_micro_batch_of_prompts_gives_the_rows_of_the_whole():
    prompts, completions, lengths = make_groups(*GROUPS["all ragged"])
    whole, _ = packed_logps(DECODERS[4], prompts, completions, lengths, temperature=1.0, with_entropy=False)
    part, _ = packed_logps(DECODERS[4], prompts[1:], completions[2:], lengths[2:], temperature=1.0, with_entropy=False)
    torch.testing.assert_close(part, whole[2:], atol=1e-5, rtol=0)


def test_that_ids_behind_the_end_change_nothing():
    prompts, completions, lengths = make_groups(*GROUPS["ragged completions"])
    behind = torch.arange(completions.shape[1]) >= lengths.unsqueeze(1)
    other = completions.masked_fill(behind, 99)
    one, _ = packed_logps(DECODERS[4], prompts, completions, lengths, temperature=1.0, with_entropy=False)
    two, _ = packed_logps(DECODERS[4], prompts, other, lengths, temperature=1.0, with_entropy=False)
    assert torch.equal(one, two)
    assert not one[behind].any()


def test_that_every_prompt_is_laid_out_once_and_rows_come_in_multiples():
    prompts, completions, lengths = make_groups([9, 12], [8] * 16)
    layout = lay_out(prompts, completions, lengths)
    assert layout.prompts.rows == 21
    assert layout.completions.rows == 16 * 7  # the last token of a completion is no input
    assert len(layout.ids) % ROW_MULTIPLE == 0
    assert layout.positions[21:28].tolist() == [9, 10, 11, 12, 13, 14, 15]


def test_that_bfloat16_autocast_works_and_stays_near():
    groups = make_groups(*GROUPS["all ragged"])
    decoder = DECODERS[2]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, _ = packed_logps(decoder, *groups, temperature=1.0, with_entropy=True)
    expected, _ = plain_logps(decoder, *groups)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, atol=0.5, rtol=0)
    gradients = torch.autograd.grad(found.sum(), list(decoder.parameters()))
    assert all(bool(torch.isfinite(gradient).all()) for gradient in gradients)
