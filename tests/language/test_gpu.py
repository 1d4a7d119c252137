"""The same step on a GPU; needs a CUDA device."""

import pytest
import torch

from grpo_gui.grpo import LossConfig, grpo_loss
from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.sampling import SamplingConfig
from grpo_gui.language.tokenizer import build_builtin_tokenizer
from tests.language.reference import random_decoder

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and this machine has none"),
]
PROMPTS = ["Which is bigger? 9.11 or 9.9?", "Sort: 4 1 3"]


def policy_on(device: str) -> LanguagePolicy:
    return LanguagePolicy(random_decoder(DecoderConfig()).to(device), build_builtin_tokenizer())


def step_loss(device, ids, lengths, old_logps):
    policy = policy_on(device)
    prompts = [policy.tokenizer.encode_prompt(prompt) for prompt in PROMPTS]
    ids, lengths, old_logps = ids.to(device), lengths.to(device), old_logps.to(device)
    logps, _ = policy.logps(prompts, ids, lengths)
    with torch.no_grad():
        ref_logps, _ = policy.frozen_copy().logps(prompts, ids, lengths)
    mask = torch.arange(ids.shape[1], device=device) < lengths.unsqueeze(1)
    advantages = torch.linspace(-1, 1, len(ids), device=device)
    loss = grpo_loss(logps, old_logps, ref_logps, mask, advantages, LossConfig(beta=0.04)).loss
    torch.autograd.backward(loss)
    norm = torch.stack([parameter.grad.norm() for parameter in policy.parameters()]).norm()
    return loss.item(), norm.item()


def test_that_one_float32_step_has_the_cpus_loss_and_gradient():
    policy = policy_on("cpu")
    prompts = [policy.tokenizer.encode_prompt(prompt) for prompt in PROMPTS]
    sampled = policy.sample(prompts, 4, SamplingConfig(), torch.Generator().manual_seed(0))
    step = (sampled.ids, sampled.lengths, sampled.logps - 0.1)
    loss, norm = step_loss("cpu", *step)
    gpu_loss, gpu_norm = step_loss("cuda", *step)
    assert gpu_loss == pytest.approx(loss, abs=1e-4)
    assert gpu_norm == pytest.approx(norm, rel=1e-3)


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_that_sampling_on_the_gpu_scores_its_own_tokens(where):
    policy = policy_on("cuda")
    prompts = [policy.tokenizer.encode_prompt(prompt) for prompt in PROMPTS]
    generator = torch.Generator(device=where).manual_seed(0)
    sampled = policy.sample(prompts, 4, SamplingConfig(), generator)
    logps, _ = policy.logps(prompts, sampled.ids, sampled.lengths)
    assert sampled.ids.device.type == "cuda"
    torch.testing.assert_close(sampled.logps, logps.detach(), atol=1e-4, rtol=0)
