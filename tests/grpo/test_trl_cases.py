import numpy as np
import pytest
import torch

from grpo_gui.grpo import MetricSums, group_advantages, grpo_loss, rollout_metrics
from tests.grpo.trl_cases import all_cases, micro_batch_cases, our_cases

CASES = our_cases()
# float32 cannot hold the equal rewards of near_zero_std_rounding.
IN_PRECISION = [(case, torch.float64, 1e-6) for case in CASES] + [
    (case, torch.float32, 1e-5) for case in CASES if case.raw["data"] != "near_zero_std_rounding"
]


def in_precision(array, dtype):
    return None if array is None else torch.tensor(array, dtype=dtype)


def test_that_every_case_but_those_of_foreign_options_is_checked():
    assert len(all_cases()) == 248
    # 3 foreign loss types, the entropy quantile and the off-policy mask, each on 8 data sets
    assert len(CASES) == 248 - 5 * 8
    assert len(micro_batch_cases()) == 20


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_that_advantages_agree_with_trl(case):
    options = case.raw["config"]
    advantages = group_advantages(
        case.rewards, scale=options["scale_rewards"], aggregation=options["multi_objective_aggregation"]
    )
    np.testing.assert_allclose(advantages.reshape(-1), case.advantages, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("case", "dtype", "tolerance"), IN_PRECISION, ids=lambda value: getattr(value, "id", None))
def test_that_loss_gradient_and_metrics_agree_with_trl(case, dtype, tolerance):
    logps = in_precision(case.cur, dtype).requires_grad_()
    result = grpo_loss(
        logps,
        in_precision(case.old, dtype),
        in_precision(case.ref, dtype),
        torch.tensor(case.mask),
        torch.tensor(case.advantages),
        case.config,
        tokens_in_batch=case.raw["num_items_in_batch"],
        entropy=in_precision(case.entropy, dtype),
    )
    result.loss.backward()
    assert result.loss.dtype == dtype
    assert result.loss.item() == pytest.approx(case.raw["loss"], abs=tolerance, rel=0)
    np.testing.assert_allclose(logps.grad, case.grad, rtol=0, atol=tolerance)
    sums = MetricSums()
    sums.add(result)
    for name, value in case.raw["metrics"].items():
        assert result.metrics[name].item() == pytest.approx(value, abs=tolerance, rel=0), name
        assert sums.result()[name] == pytest.approx(value, abs=tolerance, rel=0), name


@pytest.mark.parametrize("case", micro_batch_cases(), ids=lambda case: case.id)
def test_that_two_micro_batches_give_the_gradient_of_trl(case):
    logps = torch.tensor(case.cur, requires_grad=True)
    old, mask, advantages = torch.tensor(case.old), torch.tensor(case.mask), torch.tensor(case.advantages)
    half = len(logps) // 2
    for rows in (slice(None, half), slice(half, None)):
        grpo_loss(
            logps[rows],
            old[rows],
            None if case.ref is None else torch.tensor(case.ref)[rows],
            mask[rows],
            advantages[rows],
            case.config,
            tokens_in_batch=case.raw["num_items_in_batch"],
            completions_in_batch=len(logps),
        ).loss.backward()
    np.testing.assert_allclose(logps.grad, case.grad, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_that_reward_metrics_agree_with_trl(case):
    shape = case.rewards.shape[:2]
    metrics = rollout_metrics(
        case.rewards,
        None,
        case.advantages.reshape(shape),
        case.mask.sum(1),
        np.zeros(shape),
        np.full(shape, None),
        sources=["only"],
    )
    for name, value in case.raw["reward_metrics"].items():
        options = case.raw["config"]
        per_group = (
            options["scale_rewards"] != "batch" and options["multi_objective_aggregation"] != "normalize_then_sum"
        )
        if name == "frac_reward_zero_std" and not per_group:
            continue  # TRL asks there whether the whole batch has no spread; ours is always the share of dead groups
        assert metrics[name] == pytest.approx(value, abs=1e-6), name
