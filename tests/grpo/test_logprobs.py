import math

import pytest
import torch

from grpo_gui.grpo import token_entropy, token_logps


def test_that_logits_are_divided_by_the_temperature():
    logits = torch.tensor([[2.0, 1.0, 0.0]] * 3, dtype=torch.float64)
    logps = token_logps(logits, torch.tensor([0, 1, 2]), 0.7)
    assert logps.tolist() == pytest.approx([-0.2601, -1.6887, -3.1173], abs=5e-5)


def test_that_the_log_probabilities_of_all_tokens_are_those_of_a_distribution():
    logits = torch.randn(4, 5, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    every = torch.stack([token_logps(logits, torch.full((4, 5), token), 1.3) for token in range(7)])
    torch.testing.assert_close(every.exp().sum(0), torch.ones(4, 5, dtype=torch.float64))


def test_that_entropy_is_that_of_the_temperature_scaled_distribution():
    logits = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    probabilities = [math.exp(logp) for logp in (-0.2601, -1.6887, -3.1173)]
    expected = -sum(p * math.log(p) for p in probabilities)
    assert token_entropy(logits, 0.7).tolist() == pytest.approx([expected, math.log(3)], abs=1e-4)


def test_that_a_token_that_cannot_be_sampled_adds_no_entropy_and_no_nan():
    logits = torch.tensor([[0.0, 0.0, -math.inf]], requires_grad=True)
    assert token_entropy(logits).item() == pytest.approx(math.log(2))
    token_logps(logits, torch.tensor([0])).sum().backward()
    assert logits.grad.tolist() == [[0.5, -0.5, 0.0]]


def test_that_entropy_is_measured_without_a_gradient():
    assert not token_entropy(torch.zeros(1, 3, requires_grad=True)).requires_grad
