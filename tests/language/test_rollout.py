from dataclasses import replace

import pytest
import torch

from grpo_gui.errors import ModelError
from grpo_gui.language.packed import packed_logps
from grpo_gui.language.rollout import sample_groups
from grpo_gui.language.sampling import SamplingConfig
from tests.language.reference import SMALL, plain_logps, random_decoder

DECODER = random_decoder()
PROMPTS = [[1, 50, 60], [1, 7], [1, 20, 30, 40, 50, 60]]


def sample(decoder=DECODER, prompts=PROMPTS, group=4, seed=0, eos_ids=frozenset({2}), **options):
    sampling = SamplingConfig(**{"max_new_tokens": 12, **options})
    generator = torch.Generator().manual_seed(seed)
    return sample_groups(decoder, prompts, group, sampling, generator, eos_ids=eos_ids, pad_id=0)


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("prompts", [PROMPTS, PROMPTS[:1], [[1, 5], [1, 6]]], ids=["ragged", "one", "equal"])
@pytest.mark.parametrize("width", [1, 12, 20])
def test_that_rollout_log_probabilities_are_those_of_the_same_tokens_scored_again(kv_heads, prompts, width):
    decoder = random_decoder(replace(SMALL, num_key_value_heads=kv_heads))
    sampled = sample(decoder, prompts, temperature=0.8, max_new_tokens=width, eos_ids=frozenset(range(10)))
    expected, _ = plain_logps(decoder, prompts, sampled.ids, sampled.lengths, temperature=0.8)
    torch.testing.assert_close(sampled.logps, expected.detach(), atol=1e-5, rtol=0)
    packed, _ = packed_logps(decoder, prompts, sampled.ids, sampled.lengths, temperature=0.8, with_entropy=False)
    torch.testing.assert_close(sampled.logps, packed.detach(), atol=1e-5, rtol=0)


def test_that_greedy_completions_are_the_likeliest_tokens_of_the_plain_decoder():
    sampled = sample(temperature=0.0, group=2, eos_ids=frozenset())
    for row, ids in enumerate(sampled.ids.tolist()):
        text = list(PROMPTS[row // 2])
        for token in ids:
            assert int(DECODER(torch.tensor([text]))[0, -1].argmax()) == token
            text.append(token)


def test_that_rows_end_behind_their_first_end_token():
    ends = frozenset(range(0, 100, 9))
    sampled = sample(eos_ids=ends, group=8)
    for ids, length, cut in zip(
        sampled.ids.tolist(), sampled.lengths.tolist(), sampled.truncated.tolist(), strict=True
    ):
        assert not ends & set(ids[: length - 1])
        assert (ids[length - 1] in ends) == (not cut)
        assert not any(ids[length:])
        assert not cut or length == 12
    assert len(set(sampled.lengths.tolist())) > 2
    behind = torch.arange(sampled.ids.shape[1]) >= sampled.lengths.unsqueeze(1)
    assert not sampled.logps[behind].any()


def test_that_sampling_stops_when_every_row_has_ended():
    sampled = sample(eos_ids=frozenset(range(100)), max_new_tokens=400)
    assert sampled.ids.shape == (12, 1)
    assert not sampled.truncated.any()
    assert sampled.lengths.tolist() == [1] * 12


def test_that_without_an_end_token_every_row_is_truncated_at_the_limit():
    sampled = sample(eos_ids=frozenset())
    assert sampled.ids.shape == (12, 12)
    assert sampled.truncated.all()


def test_that_the_same_seed_gives_the_same_completions_and_another_seed_others():
    first, again, other = sample(seed=5), sample(seed=5), sample(seed=6)
    assert torch.equal(first.ids, again.ids)
    assert torch.equal(first.logps, again.logps)
    assert first.ids.shape != other.ids.shape or not torch.equal(first.ids, other.ids)


def test_that_the_completions_of_a_group_differ():
    sampled = sample(prompts=[[1, 5]], group=16)
    assert len({tuple(ids) for ids in sampled.ids.tolist()}) > 8


def test_that_first_tokens_follow_the_models_distribution():
    sampled = sample(prompts=[[1, 5]], group=20000, max_new_tokens=1)
    expected = DECODER(torch.tensor([[1, 5]]))[0, -1].softmax(-1).detach() * 20000
    found = torch.bincount(sampled.ids[:, 0], minlength=100)
    frequent = expected > 20
    chi_square = ((found - expected).square() / expected)[frequent].sum().item()
    degrees = int(frequent.sum())
    assert degrees > 5
    assert chi_square < degrees + 4 * (2 * degrees) ** 0.5


def test_that_top_k_one_is_greedy():
    assert torch.equal(sample(top_k=1).ids, sample(temperature=0.0).ids)


def test_that_samples_can_take_part_in_a_loss():
    sampled = sample()
    weight = torch.ones((), requires_grad=True)
    (sampled.logps * weight).sum().backward()
    assert weight.grad is not None


@pytest.mark.parametrize(("prompts", "words"), [([[1], []], "Prompt 2 has no tokens"), ([[1] * 505], "505 tokens")])
def test_that_prompts_which_cannot_be_sampled_are_refused(prompts, words):
    with pytest.raises(ModelError, match=words):
        sample(prompts=prompts)


@pytest.mark.parametrize("prompts", [PROMPTS, PROMPTS[:1]])
def test_that_sampling_works_under_bfloat16_autocast(prompts):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        sampled = sample(prompts=prompts, max_new_tokens=20, eos_ids=frozenset())
    expected, _ = plain_logps(DECODER, prompts, sampled.ids, sampled.lengths)
    torch.testing.assert_close(sampled.logps, expected.detach(), atol=0.5, rtol=0)
