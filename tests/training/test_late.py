"""Late groups as tensors: which go together, what is masked, and how many of their samples still count."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from grpo_gui.events import GroupRef
from grpo_gui.training.human_term import (
    HumanTerm,
    LateGroup,
    RatedGroup,
    joint_advantages,
    term_from_values,
    term_to_values,
)
from grpo_gui.training.late import effective_size, late_batches
from grpo_gui.training.rating_source import SampledGroup
from grpo_gui.training.scoring import Scorer
from tests.training.fakes import tiny_config, tiny_learner
from tests.training.raters import MemoryRatings
from tests.training.test_rating import HUMAN, LENGTH_REWARD, human_config

CPU = torch.device("cpu")


def sampled(*lengths, temperature=1.0, truncated=None, logp=-1.0):
    return SampledGroup(
        prompt_ids=(1, 5, 6),
        completion_ids=tuple(tuple(range(10, 10 + length)) for length in lengths),
        old_logps=tuple(np.full(length, logp, dtype="<f4").tobytes() for length in lengths),
        truncated=truncated or (False,) * len(lengths),
        program=(None,) * len(lengths),
        temperature=temperature,
    )


def late(group, values=(1.0, -1.0), trust=1.0, step=1):
    return LateGroup(RatedGroup(GroupRef(7, step, 0), values, trust, (1,)), group)


def batches(groups, tiny_model, **changes):
    advantages = [np.arange(group.size, dtype=np.float64) for group in groups]
    config = tiny_config(tiny_model, **changes)
    return late_batches([late(group) for group in groups], advantages, config, CPU)


def test_that_groups_of_one_size_and_temperature_go_together(tiny_model):
    first, second = batches([sampled(2, 3), sampled(1, 4), sampled(2, 2, temperature=0.5)], tiny_model)
    assert (first.ids.shape, first.temperature, first.lengths.tolist()) == ((4, 4), 1.0, [2, 3, 1, 4])
    assert (second.ids.shape, second.temperature) == ((2, 2), 0.5)
    assert first.advantages.tolist() == [0, 1, 0, 1]
    assert first.mask.sum(1).tolist() == [2, 3, 1, 4]
    assert first.ids[0].tolist() == [10, 11, 0, 0]


def test_that_a_batch_is_at_most_a_micro_batch(tiny_model):
    found = batches([sampled(2, 3)] * 5, tiny_model, micro_batch_prompts=2)
    assert [len(batch.prompt_ids) for batch in found] == [2, 2, 1]


def test_that_cut_completions_are_masked_where_the_run_leaves_them_out(tiny_model):
    group = sampled(2, 3, truncated=(False, True))
    (masked,) = batches([group], tiny_model, mask_truncated_completions=True)
    (whole,) = batches([group], tiny_model)
    assert masked.mask.sum(1).tolist() == [2, 0]
    assert whole.mask.sum(1).tolist() == [2, 3]


def test_that_the_effective_size_is_that_of_the_weights(tiny_model):
    """One completion whose probability rose e-fold, two that stayed: (e + 2)^2 / (e^2 + 2)."""
    config = tiny_config(tiny_model)
    learner = tiny_learner(config)
    group = sampled(3, 3, 3)
    batch = late_batches([late(group)], [np.zeros(3)], config, CPU)[0]
    with torch.no_grad():
        now, _ = learner.policy.logps(batch.prompt_ids, batch.ids, batch.lengths, temperature=1.0)
    old = now.numpy().astype("<f4")
    same = replace(group, old_logps=tuple(row.tobytes() for row in old))
    assert effective_size(learner.policy, same, config) == pytest.approx(3)
    old[0, 0] -= 1.0
    moved = replace(group, old_logps=tuple(row.tobytes() for row in old))
    e = np.e
    assert effective_size(learner.policy, moved, config) == pytest.approx((e + 2) ** 2 / (e * e + 2), rel=1e-4)


def test_that_weights_count_on_fresh_and_late_groups_alike(tiny_model):
    config = human_config(tiny_model, rewards=(*LENGTH_REWARD, *HUMAN))
    scorer = Scorer(config.rewards)
    rewards = np.full((1, 2, 2), np.nan)
    rewards[0, :, 0] = [1.0, 0.0]
    term = HumanTerm(late=(late(sampled(2, 2), trust=0.5),))
    fresh, (of_late,), _ = joint_advantages(rewards, scorer, config, term)
    # both groups are +-0.7071 by themselves; two weights of 1 divide by sqrt(2); trust halves the late one
    assert fresh.tolist() == [pytest.approx([0.5, -0.5], abs=1e-3)]
    assert of_late == pytest.approx([0.25, -0.25], abs=1e-3)


def test_that_late_groups_may_have_another_size(tiny_model):
    config = human_config(tiny_model)
    rewards = np.full((2, 4, 1), np.nan)
    three = late(sampled(1, 2, 3), (1.0, None, -1.0))
    fresh, (of_late,), _ = joint_advantages(rewards, Scorer(config.rewards), config, HumanTerm(late=(three,)))
    assert fresh.tolist() == [[0.0] * 4] * 2
    assert of_late.shape == (3,)
    assert of_late[1] == 0
    assert of_late[0] == -of_late[2] > 0


@pytest.mark.parametrize(
    ("trust", "program", "share"),
    [
        (1.0, (np.nan, np.nan), 1.0),
        (0.25, (np.nan, np.nan), 0.25),  # people alone: the step is as long as they are trusted
        (0.25, (1.0, 0.0), ((0.25**4 + 1) / (0.25**2 + 1)) ** 0.5),  # equal weights: people's part is .25 to 1
        (0.0, (1.0, 0.0), 1.0),  # who is not trusted at all does not slow what a program teaches
        (0.0, (np.nan, np.nan), 1.0),  # nothing is learned
    ],
)
def test_that_the_step_is_as_long_as_what_it_learns_from_is_trusted(tiny_model, trust, program, share):
    config = human_config(tiny_model, rewards=(*LENGTH_REWARD, *HUMAN))
    rewards = np.full((1, 2, 2), np.nan)
    rewards[0, :, 0] = program
    term = HumanTerm(late=(late(sampled(2, 2), trust=trust),))
    assert joint_advantages(rewards, Scorer(config.rewards), config, term).step_share == pytest.approx(share, abs=1e-4)


def test_that_a_step_without_ratings_has_its_full_length(tiny_model):
    config = human_config(tiny_model, rewards=(*LENGTH_REWARD, *HUMAN))
    rewards = np.array([[[1.0, np.nan], [0.0, np.nan]]])
    assert joint_advantages(rewards, Scorer(config.rewards), config, HumanTerm()).step_share == 1
    assert joint_advantages(rewards, Scorer(config.rewards), config, None).step_share == 1


def test_that_a_term_goes_through_json_and_loses_only_groups_that_are_gone():
    kept = RatedGroup(GroupRef(7, 1, 0), (1.0, None), 0.5, (3, 4))
    gone = RatedGroup(GroupRef(7, 2, 0), (1.0, 0.0), 1.0, (5,))

    class Source(MemoryRatings):
        def group(self, ref):
            return sampled(2, 2) if ref == kept.ref else None

    term = HumanTerm((kept,), (LateGroup(kept, sampled(2, 2)), LateGroup(gone, sampled(1, 1))), (gone,))
    back = term_from_values(term_to_values(term), Source())
    assert back.fresh == term.fresh
    assert back.expired == term.expired
    assert back.late == term.late[:1]
