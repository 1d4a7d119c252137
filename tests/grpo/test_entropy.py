import math

import pytest
import torch

from grpo_gui.grpo import token_entropy


def test_that_entropy_is_that_of_the_temperature_scaled_distribution():
    logits = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
    logps = (logits / 0.7).log_softmax(-1)
    assert logps[0].tolist() == pytest.approx([-0.2601, -1.6887, -3.1173], abs=5e-5)
    expected = -sum(math.exp(logp) * logp for logp in logps[0].tolist())
    assert token_entropy(logps).tolist() == pytest.approx([expected, math.log(3)])


def test_that_a_token_that_cannot_be_sampled_adds_no_entropy_and_no_nan():
    logps = torch.tensor([[0.0, 0.0, -math.inf]]).log_softmax(-1)
    assert token_entropy(logps).item() == pytest.approx(math.log(2))


def test_that_a_certain_token_has_no_entropy():
    assert token_entropy(torch.tensor([[0.0, -math.inf]])).item() == 0


def test_that_entropy_is_measured_without_a_gradient():
    logps = torch.zeros(1, 3, requires_grad=True).log_softmax(-1)
    assert not token_entropy(logps).requires_grad
