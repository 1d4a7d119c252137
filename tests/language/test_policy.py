import pytest
import torch

from grpo_gui.errors import ModelError
from grpo_gui.language.policy import LanguagePolicy, Policy
from grpo_gui.language.sampling import SamplingConfig
from grpo_gui.language.tokenizer import build_builtin_tokenizer
from tests.language.reference import random_decoder


@pytest.fixture
def policy():
    return LanguagePolicy(random_decoder(), build_builtin_tokenizer())


def test_that_the_reference_stays_when_the_policy_is_updated(policy):
    as_protocol: Policy = policy
    reference = as_protocol.frozen_copy()
    prompts, completions, lengths = [[1, 5]], torch.tensor([[7, 8]]), torch.tensor([2])
    before, _ = reference.logps(prompts, completions, lengths)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.mul_(0.5)
    after, _ = reference.logps(prompts, completions, lengths)
    changed, _ = policy.logps(prompts, completions, lengths)
    assert torch.equal(before, after)
    assert not torch.equal(changed, after)
    assert not after.requires_grad
    assert changed.requires_grad


def test_that_sampling_uses_the_tokenizers_end_and_filler(policy):
    prompts = [policy.tokenizer.encode_prompt("ab")]
    sampled = policy.sample(prompts, 32, SamplingConfig(max_new_tokens=40), torch.Generator().manual_seed(0))
    ended = ~sampled.truncated
    assert ended.any()
    assert (sampled.ids[ended, sampled.lengths[ended] - 1] == 2).all()


def test_that_weights_move_between_policies(policy):
    other = LanguagePolicy(random_decoder(seed=1), policy.tokenizer)
    other.load_state_dict(policy.state_dict())
    for name, tensor in policy.state_dict().items():
        assert torch.equal(other.state_dict()[name], tensor)


def test_that_weights_of_another_shape_are_refused(policy):
    with pytest.raises(ModelError, match="another shape"):
        policy.load_state_dict({"model.norm.weight": torch.ones(3)})
