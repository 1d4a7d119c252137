import warnings
from pathlib import Path

import pytest
import torch

from grpo_gui.language.hf_loading import ModelOptions, open_policy
from grpo_gui.language.hf_policy import HfPolicy
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.sampling import SamplingConfig
from tests.language.hf_models import make_hf_model

pytest.importorskip("transformers", reason="needs the extra hf")
pytestmark = pytest.mark.hf

PROMPTS = ["2+2?", "A much longer prompt, so that the other is padded."]
KINDS = ("olmo2", "gpt_neox", "gemma2")


@pytest.fixture(scope="module", params=KINDS)
def policy(request, tmp_path_factory) -> HfPolicy:
    torch.set_num_threads(1)
    opened = open_policy(
        str(make_hf_model(tmp_path_factory.mktemp(request.param), request.param)), "cpu", ModelOptions()
    )
    assert isinstance(opened, HfPolicy)
    return opened


def draw(policy: HfPolicy, group: int = 2, seed: int = 0, **options: object):
    prompts = [policy.tokenizer.encode_prompt(prompt) for prompt in PROMPTS]
    sampling = SamplingConfig(**{"max_new_tokens": 10} | options)
    return prompts, policy.sample(prompts, group, sampling, torch.Generator().manual_seed(seed))


def test_that_sampled_log_probabilities_are_those_of_each_row_alone(policy):
    prompts, sampled = draw(policy)
    for row, (ids, length) in enumerate(zip(sampled.ids.tolist(), sampled.lengths.tolist(), strict=True)):
        prompt = prompts[row // 2]
        with torch.no_grad():
            logits = policy.model(input_ids=torch.tensor([prompt + ids[:length]])).logits[0]
        expected = logits.log_softmax(-1)[len(prompt) - 1 : -1].gather(1, torch.tensor(ids[:length]).unsqueeze(1))
        torch.testing.assert_close(sampled.logps[row, :length], expected.squeeze(1), atol=2e-4, rtol=0)


def test_that_logps_and_entropy_agree_with_sampling_and_are_0_behind_the_end(policy):
    prompts, sampled = draw(policy)
    logps, entropy = policy.logps(prompts, sampled.ids, sampled.lengths, with_entropy=True)
    torch.testing.assert_close(logps.detach(), sampled.logps, atol=2e-4, rtol=0)
    assert entropy is not None
    behind = torch.arange(sampled.ids.shape[1]) >= sampled.lengths.unsqueeze(1)
    assert (logps[behind] == 0).all()
    assert (entropy[behind] == 0).all()
    assert (entropy[~behind] > 0).all()


def test_that_the_same_seed_repeats_and_greedy_is_the_likeliest(policy):
    one, other, third = draw(policy)[1], draw(policy)[1], draw(policy, seed=1)[1]
    assert torch.equal(one.ids, other.ids)
    assert one.ids.shape != third.ids.shape or not torch.equal(one.ids, third.ids)
    greedy = draw(policy, group=1, temperature=0.0)
    cold = draw(policy, group=1, top_k=1)
    assert torch.equal(greedy[1].ids, cold[1].ids)


def test_that_the_frozen_copy_does_not_follow_the_training(policy):
    reference = policy.frozen_copy()
    prompts, sampled = draw(policy)
    before, _ = reference.logps(prompts, sampled.ids, sampled.lengths)
    weights = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    policy.load_state_dict({name: tensor + 0.1 for name, tensor in weights.items()})
    after, _ = reference.logps(prompts, sampled.ids, sampled.lengths)
    moved, _ = policy.logps(prompts, sampled.ids, sampled.lengths)
    policy.load_state_dict(weights)
    assert torch.equal(before, after)
    assert not torch.allclose(before, moved.detach())


def test_that_an_adapter_alone_is_trained_and_switched_off_is_the_reference(tmp_path):
    folder = make_hf_model(tmp_path / "model", "llama")
    policy = open_policy(str(folder), "cpu", ModelOptions(lora_rank=4))
    assert isinstance(policy, HfPolicy)
    assert all("lora" in name for name in policy.state_dict())
    reference = policy.frozen_copy()
    assert not any("lora" in name for name in reference.state_dict())
    prompts, sampled = draw(policy)
    before, _ = reference.logps(prompts, sampled.ids, sampled.lengths)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.normal_(std=0.3)
    moved, _ = policy.logps(prompts, sampled.ids, sampled.lengths)
    after, _ = reference.logps(prompts, sampled.ids, sampled.lengths)
    assert torch.equal(before, after)
    assert not torch.allclose(before, moved)
    policy.save(tmp_path / "adapter")
    merged = open_policy(str(tmp_path / "adapter"), "cpu", ModelOptions())
    logps, _ = merged.logps(prompts, sampled.ids, sampled.lengths)
    torch.testing.assert_close(logps, moved, atol=1e-4, rtol=0)


def test_that_gradient_checkpointing_gives_the_same_gradients(tmp_path):
    folder = make_hf_model(tmp_path / "model", "olmo2")
    gradients = []
    for checkpointing in (False, True):
        options = ModelOptions(lora_rank=2, gradient_checkpointing=checkpointing)
        torch.manual_seed(3)
        policy = open_policy(str(folder), "cpu", options)
        with torch.no_grad():
            for number, parameter in enumerate(policy.parameters()):
                parameter.fill_(0.01 * (number % 3 + 1))
        prompts, sampled = draw(policy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # transformers warns of itself
            logps, _ = policy.logps(prompts, sampled.ids, sampled.lengths)
            logps.sum().backward()
        gradients.append([parameter.grad.clone() for parameter in policy.parameters()])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_that_a_llama_takes_the_fast_path_and_keeps_its_template_when_saved(tmp_path):
    folder = make_hf_model(tmp_path / "model", "llama")
    policy = open_policy(str(folder), "cpu", ModelOptions())
    assert isinstance(policy, LanguagePolicy)
    text = policy.tokenizer.decode(policy.tokenizer.encode_prompt("2+2?"))
    assert text == "[user]2+2?\n[assistant]"
    policy.save(tmp_path / "saved")
    again = open_policy(str(tmp_path / "saved"), "cpu", ModelOptions())
    assert again.tokenizer.encode_prompt("2+2?") == policy.tokenizer.encode_prompt("2+2?")
    prompts, sampled = draw(policy)
    torch.testing.assert_close(again.logps(prompts, sampled.ids, sampled.lengths)[0], sampled.logps, atol=1e-4, rtol=0)


def test_that_a_saved_model_is_loaded_by_transformers(policy, tmp_path: Path):
    import transformers

    policy.save(tmp_path / "saved")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "saved", local_files_only=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "saved", local_files_only=True)
    ids = torch.tensor([policy.tokenizer.encode_prompt("2+2?")])
    with torch.no_grad():
        torch.testing.assert_close(model(input_ids=ids).logits, policy.model(input_ids=ids).logits)
    assert tokenizer.chat_template is not None
