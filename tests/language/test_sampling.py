import math

import pytest
import torch

from grpo_gui.language.sampling import SamplingConfig, TokenDraw, keep_likeliest

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0, -3.0])
DRAWS = 20000


def draw_many(sampling: SamplingConfig, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    draw = TokenDraw(sampling, torch.Generator().manual_seed(seed))
    return draw(LOGITS.repeat(DRAWS, 1))


@pytest.mark.parametrize("temperature", [1.0, 0.7, 2.0])
def test_that_sampled_frequencies_follow_the_softmax(temperature):
    tokens, _ = draw_many(SamplingConfig(temperature=temperature))
    expected = (LOGITS / temperature).softmax(-1) * DRAWS
    found = torch.bincount(tokens, minlength=5)
    chi_square = ((found - expected).square() / expected).sum().item()
    assert chi_square < 18.47  # 99.9 % of true samples with 4 degrees of freedom


def test_that_logits_are_divided_by_the_temperature_before_the_softmax():
    tokens, logps = TokenDraw(SamplingConfig(temperature=0.7), torch.Generator().manual_seed(0))(
        torch.tensor([[2.0, 1.0, 0.0]]).repeat(200, 1)
    )
    golden = torch.tensor([-0.2601, -1.6887, -3.1173])
    assert set(tokens.tolist()) == {0, 1, 2}
    torch.testing.assert_close(logps, golden[tokens], atol=1e-4, rtol=0)


def test_that_log_probabilities_are_those_of_the_whole_softmax_despite_top_k():
    tokens, logps = draw_many(SamplingConfig(top_k=2))
    torch.testing.assert_close(logps, LOGITS.log_softmax(-1)[tokens])


def test_that_top_k_draws_only_the_k_likeliest_in_their_proportion():
    tokens, _ = draw_many(SamplingConfig(top_k=2))
    assert set(tokens.tolist()) == {0, 1}
    share = (tokens == 0).float().mean().item()
    assert share == pytest.approx(1 / (1 + math.exp(-1)), abs=0.015)


@pytest.mark.parametrize(("top_p", "kept"), [(0.5, 1), (0.65, 2), (0.9, 3), (0.98, 4), (1.0, 5), (0.0, 1)])
def test_that_top_p_keeps_the_smallest_set_that_reaches_p(top_p, kept):
    # probabilities .637 .234 .086 .032 .004, sums .637 .871 .958 .989 1
    allowed = keep_likeliest(LOGITS.unsqueeze(0), 0, top_p)
    assert int(torch.isfinite(allowed).sum()) == kept
    assert torch.equal(allowed[0, :kept], LOGITS[:kept])


def test_that_top_p_finds_the_likeliest_wherever_they_stand():
    allowed = keep_likeliest(LOGITS.flip(0).unsqueeze(0), 0, 0.65)
    assert torch.isfinite(allowed[0]).tolist() == [False, False, False, True, True]


def test_that_temperature_zero_takes_the_likeliest_and_scores_it_at_temperature_one():
    tokens, logps = draw_many(SamplingConfig(temperature=0.0))
    assert set(tokens.tolist()) == {0}
    torch.testing.assert_close(logps[0], LOGITS.log_softmax(-1)[0])


def test_that_the_same_seed_draws_the_same_tokens_and_another_seed_others():
    first, again, other = (draw_many(SamplingConfig(), seed)[0] for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_that_noise_is_fresh_for_every_token():
    draw = TokenDraw(SamplingConfig(max_new_tokens=3), torch.Generator().manual_seed(0))
    rows = [draw(torch.zeros(64, 5))[0].tolist() for _ in range(7)]
    assert len({tuple(row) for row in rows}) == 7
