import math
import pickle
import re

import numpy as np
import pytest

from grpo_gui.events import CompletionSample
from grpo_gui.training.samples import group_samples
from tests.training.fakes import never, tiny_config, tiny_learner


@pytest.fixture(scope="module")
def recorded(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model, learning_rate=5e-3, prompts_per_step=8))
    finished = learner.do_step(never)
    groups = group_samples(finished.rollout, finished.last_update, learner.policy.tokenizer, learner.scorer.sources)
    return finished, groups


def numbers(blob: bytes) -> np.ndarray:
    return np.frombuffer(blob, "<f4")


def completions(groups) -> list[CompletionSample]:
    return [completion for group in groups for completion in group.completions]


def test_that_groups_are_in_the_order_of_the_prompts(recorded):
    finished, groups = recorded
    assert [group.prompt for group in groups] == [problem.prompt for problem in finished.rollout.drawn.problems]
    assert [group.index for group in groups] == list(range(8))
    assert [[completion.index for completion in group.completions] for group in groups] == [[0, 1, 2, 3]] * 8
    assert all(group.prompt_token_ids for group in groups)


def test_that_every_token_has_its_values(recorded):
    _, groups = recorded
    for completion in completions(groups):
        length = len(completion.token_ids)
        assert len(completion.tokens) == length > 0
        for blob in (completion.old_logps, completion.logps, completion.ref_logps, completion.entropy):
            assert numbers(blob).shape == (length,)
            assert np.isfinite(numbers(blob)).all()
        assert len(np.frombuffer(completion.clipped, np.int8)) == length
        assert (numbers(completion.old_logps) < 0).all()
        assert (numbers(completion.entropy) > 0).all()


def test_that_the_summaries_agree_with_the_tokens(recorded):
    _, groups = recorded
    for completion in completions(groups):
        ratio = np.exp(numbers(completion.logps) - numbers(completion.old_logps))
        assert completion.ratio_min == pytest.approx(ratio.min(), rel=1e-4)
        assert completion.ratio_max == pytest.approx(ratio.max(), rel=1e-4)
        difference = numbers(completion.ref_logps) - numbers(completion.logps)
        kl = np.expm1(difference) - difference
        assert completion.kl_mean == pytest.approx(kl.mean(), rel=1e-3, abs=1e-6)
        assert completion.kl_max == pytest.approx(kl.max(), rel=1e-3, abs=1e-6)
        clipped = np.frombuffer(completion.clipped, np.int8)
        assert completion.clip_fraction_low == pytest.approx((clipped == -1).mean())
        assert completion.clip_fraction_high == pytest.approx((clipped == 1).mean())


def test_that_some_token_was_clipped_on_each_side(recorded):
    _, groups = recorded
    signs = {sign for completion in completions(groups) for sign in np.frombuffer(completion.clipped, np.int8)}
    assert signs == {-1, 0, 1}


def test_that_rewards_and_advantages_belong_to_their_completion(recorded):
    _, groups = recorded
    for group in groups:
        assert sum(completion.advantage for completion in group.completions) == pytest.approx(0, abs=1e-9)
        for completion in group.completions:
            target = max(0.0, 1 - abs(len(completion.token_ids) - 3) / 3)
            assert completion.rewards == (("length", pytest.approx(target)),)
            assert completion.reward == pytest.approx(target)
            assert completion.correct is False
            assert completion.text == re.sub("<(eos|pad|bos|reserved)>", "", "".join(completion.tokens))


def test_that_events_hold_plain_values_and_pickle(recorded):
    _, groups = recorded
    assert pickle.loads(pickle.dumps(groups)) == groups
    completion = groups[0].completions[0]
    for name in ("reward", "advantage", "ratio_min", "kl_max", "clip_fraction_low"):
        assert type(getattr(completion, name)) is float, name
    assert not math.isnan(completion.advantage)
