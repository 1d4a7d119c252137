import math

import pytest
import torch

from grpo_gui.grpo import LossConfig, MetricSums, grpo_loss
from grpo_gui.grpo.metric_sums import loss_layout

TOKENS = 6


def results_of(rows_of_each, config=None, *, completions=8, with_entropy=True):
    """One result for every micro-batch: random log-probs with ragged lengths, the same ones at every call."""
    config = config or LossConfig(beta=0.1)
    generator = torch.Generator().manual_seed(3)
    logps, old, ref, entropy = (-torch.rand(completions, TOKENS, generator=generator) for _ in range(4))
    lengths = torch.randint(1, TOKENS + 1, (completions, 1), generator=generator)
    mask = torch.arange(TOKENS) < lengths
    advantages = torch.randn(completions, generator=generator)
    return [
        grpo_loss(
            logps[rows],
            old[rows],
            ref[rows],
            mask[rows],
            advantages[rows],
            config,
            tokens_in_batch=int(mask.sum()),
            completions_in_batch=completions,
            entropy=-entropy[rows] if with_entropy else None,
        )
        for rows in rows_of_each
    ]


def pooled(results):
    sums = MetricSums()
    for result in results:
        sums.add(result)
    return sums.result()


WHOLE = [slice(0, 8)]
UNEVEN = [slice(0, 1), slice(1, 6), slice(6, 8)]


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo", "cispo"])
def test_that_uneven_micro_batches_pool_to_the_metrics_of_the_whole_batch(loss_type, level):
    config = LossConfig(
        loss_type=loss_type,
        importance_sampling_level=level,
        epsilon=0.1,
        epsilon_high=0.2,
        beta=0.1,
        max_completion_length=9,
    )
    whole = pooled(results_of(WHOLE, config))
    assert pooled(results_of(UNEVEN, config)) == pytest.approx(whole, abs=1e-6)
    assert {"loss", "policy_loss", "kl", "kl/max", "entropy", "ratio/min", "ratio/max"} < set(whole)


def test_that_inner_updates_are_averaged_by_their_tokens():
    first = grpo_loss(torch.zeros(1, 1), None, torch.tensor([[1.0]]), torch.ones(1, 1), torch.ones(1), LossConfig())
    second = grpo_loss(torch.zeros(1, 3), None, torch.zeros(1, 3), torch.ones(1, 3), torch.ones(1), LossConfig())
    metrics = pooled([first, second])
    assert metrics["kl"] == pytest.approx((math.e - 2) / 4)
    assert metrics["kl/max"] == pytest.approx(math.e - 2)
    assert metrics["loss"] == pytest.approx(-1.0)


def test_that_the_pooled_loss_is_the_mean_over_the_inner_updates():
    updates = [
        grpo_loss(torch.full((2, 2), value), torch.zeros(2, 2), None, torch.ones(2, 2), -torch.ones(2), LossConfig())
        for value in (0.0, 0.3)
    ]
    expected = (updates[0].loss.item() + updates[1].loss.item()) / 2
    assert pooled(updates)["loss"] == pytest.approx(expected)


def test_that_one_batch_pools_to_its_own_metrics():
    (result,) = results_of(WHOLE)
    own = {name: value.item() for name, value in result.metrics.items()}
    assert pooled([result]) == pytest.approx(own)


def test_that_merging_equals_adding():
    results = results_of(UNEVEN)
    left, right = MetricSums(), MetricSums()
    left.add(results[0])
    right.add(results[1])
    right.add(results[2])
    left.merge(right)
    left.merge(MetricSums())
    assert left.result() == pytest.approx(pooled(results))


def test_that_adding_does_not_change_the_result_that_was_added():
    first, second, _ = results_of(UNEVEN)
    before = first.sums.result()
    pooled([first, second])
    assert first.sums.result() == before


def test_that_sums_saved_half_done_go_on_as_if_nothing_happened():
    config = LossConfig(beta=0.1)
    first, second, third = results_of(UNEVEN, config)
    sums = MetricSums()
    sums.add(first)
    sums.add(second)
    parts = sums.parts()
    layout = loss_layout(cispo=False, sequence=False, with_kl=True, with_entropy=True)
    again = MetricSums.of_batch(
        layout,
        parts["totals"],
        parts["extremes"],
        parts["tokens"],
        completions=int(parts["completions"]),
        share=float(parts["share"]),
    )
    again.add(third)
    assert again.result() == pooled([first, second, third])


def test_that_nothing_pools_to_no_metrics():
    assert MetricSums().result() == {}
    assert MetricSums().tensors() == {}


def test_that_metrics_without_one_token_are_nan_and_do_not_spoil_the_rest():
    empty = grpo_loss(
        torch.zeros(1, 2),
        None,
        torch.ones(1, 2),
        torch.zeros(1, 2),
        torch.ones(1),
        LossConfig(),
        completions_in_batch=2,
    )
    alone = empty.sums.result()
    assert all(math.isnan(alone[name]) for name in ("kl", "kl/max", "ratio/min", "ratio/max", "clip_ratio/low_mean"))
    other = grpo_loss(
        torch.zeros(1, 2),
        None,
        torch.zeros(1, 2),
        torch.ones(1, 2),
        torch.ones(1),
        LossConfig(),
        completions_in_batch=2,
    )
    metrics = pooled([empty, other])
    assert metrics["ratio/min"] == metrics["ratio/max"] == 1
    assert metrics["kl"] == 0


def test_that_different_metrics_are_not_pooled():
    (with_entropy,) = results_of(WHOLE)
    (without,) = results_of(WHOLE, with_entropy=False)
    with pytest.raises(ValueError, match="same loss options"):
        pooled([with_entropy, without])


def test_that_a_value_that_is_not_finite_stays_visible():
    logps = torch.tensor([[math.nan, 0.0]])
    metrics = pooled([grpo_loss(logps, torch.zeros(1, 2), logps, torch.ones(1, 2), torch.ones(1), LossConfig())])
    assert math.isnan(metrics["loss"])
    assert math.isnan(metrics["kl/max"])
