import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grpo_gui.grpo import LossConfig, grpo_loss
from tests.grpo.reference import loss_of_batch

LOSS_TYPES = ["grpo", "bnpo", "dapo", "dr_grpo", "cispo"]
LEVELS = ["token", "sequence"]


def one_token(advantage, ratio, config=None):
    """A batch of one completion with one token; returns the result and d loss / d logp."""
    logps = torch.tensor([[math.log(ratio) - 1]], dtype=torch.float64, requires_grad=True)
    old = torch.tensor([[-1.0]], dtype=torch.float64)
    result = grpo_loss(logps, old, None, torch.ones(1, 1), torch.tensor([advantage]), config or LossConfig())
    result.loss.backward()
    return result, logps.grad.item()


@pytest.mark.parametrize(
    ("advantage", "ratio", "objective", "slope", "clipped"),
    [(1.0, 0.5, 0.5, 0.5, 0), (1.0, 1.5, 1.2, 0.0, 1), (-1.0, 0.5, -0.8, 0.0, -1), (-1.0, 1.5, -1.5, -1.5, 0)],
)
def test_that_the_clip_facts_hold(advantage, ratio, objective, slope, clipped):
    result, gradient = one_token(advantage, ratio)
    assert result.loss.item() == pytest.approx(-objective)
    assert gradient == pytest.approx(-slope)
    assert result.clipped.tolist() == [[clipped]]
    assert result.clipped.dtype == torch.int8
    assert result.metrics["clip_ratio/low_mean"].item() == (clipped == -1)
    assert result.metrics["clip_ratio/high_mean"].item() == (clipped == 1)
    assert result.metrics["clip_ratio/region_mean"].item() == (clipped != 0)
    assert result.ratio.item() == pytest.approx(ratio)


def test_that_epsilon_high_widens_the_upper_side_only():
    config = LossConfig(epsilon=0.2, epsilon_high=0.6)
    assert one_token(1.0, 1.5, config)[0].loss.item() == pytest.approx(-1.5)
    assert one_token(1.0, 1.7, config)[0].loss.item() == pytest.approx(-1.6)
    assert one_token(-1.0, 0.5, config)[0].loss.item() == pytest.approx(0.8)


def test_that_delta_bounds_the_ratio_where_the_advantage_is_negative():
    result, gradient = one_token(-1.0, 5.0, LossConfig(delta=2.0))
    assert result.loss.item() == pytest.approx(2.0)
    assert gradient == 0
    assert result.ratio.item() == pytest.approx(5.0)  # kept as it was, for the heat map


def test_that_the_clip_metrics_see_the_ratio_after_delta():
    result, _ = one_token(1.0, 1.5, LossConfig(delta=1.1))
    assert result.loss.item() == pytest.approx(-1.1)
    assert result.metrics["clip_ratio/high_mean"].item() == 0
    assert one_token(1.0, 1.5, LossConfig(delta=1.3))[0].metrics["clip_ratio/high_mean"].item() == 1


def test_that_cispo_caps_the_weight_and_keeps_the_gradient():
    config = LossConfig(loss_type="cispo", epsilon_high=5.0)
    result, gradient = one_token(2.0, 8.0, config)
    assert result.loss.item() == pytest.approx(-5 * 2 * (math.log(8) - 1))
    assert gradient == pytest.approx(-10)
    assert result.clipped.item() == 1
    assert result.metrics["cispo_clip_ratio"].item() == 1
    assert one_token(2.0, 3.0, config)[1] == pytest.approx(-6)
    assert one_token(-2.0, 8.0, config)[0].metrics["cispo_clip_ratio"].item() == 0


@pytest.mark.parametrize(("loss_type", "expected"), [("grpo", 0.0), ("bnpo", 0.6), ("dapo", 0.6), ("dr_grpo", 0.1875)])
def test_that_the_worked_aggregation_comes_out(loss_type, expected):
    mask = torch.arange(8) < torch.tensor([[2], [8]])
    logps = torch.full((2, 8), -1.0, dtype=torch.float64)
    config = LossConfig(loss_type=loss_type, max_completion_length=16)
    result = grpo_loss(logps, logps, None, mask, torch.tensor([1.0, -1.0]), config)
    assert result.loss.item() == pytest.approx(expected)
    assert result.metrics["policy_loss"].item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("logp", "ref_logp", "kl"), [(-1.0, -2.0, 0.367879), (-2.0, -1.0, 0.718282), (-9.0, -1.0, 2971.957987)]
)
def test_that_k3_points_from_the_policy_to_the_reference(logp, ref_logp, kl):
    logps = torch.tensor([[logp]], dtype=torch.float64)
    ref = torch.tensor([[ref_logp]], dtype=torch.float64)
    result = grpo_loss(logps, None, ref, torch.ones(1, 1), torch.zeros(1), LossConfig(beta=0.5))
    assert result.kl.item() == pytest.approx(kl, abs=1e-6)
    assert result.metrics["kl/max"].item() == pytest.approx(kl, abs=1e-6)
    assert result.loss.item() == pytest.approx(0.5 * kl, abs=1e-6)


def test_that_the_mean_of_kl_hides_what_its_maximum_shows():
    logps, ref = torch.full((1, 100), -1.0), torch.full((1, 100), -1.0)
    logps[0, 7] = -9
    metrics = grpo_loss(logps, None, ref, torch.ones(1, 100), torch.zeros(1), LossConfig()).metrics
    assert metrics["kl"].item() == pytest.approx(29.71958)
    assert metrics["kl/max"].item() == pytest.approx(2971.958)


def test_that_without_beta_kl_is_measured_but_not_trained_on():
    logps = torch.tensor([[-1.0, -2.0]], requires_grad=True)
    result = grpo_loss(logps, None, torch.zeros(1, 2), torch.ones(1, 2), torch.zeros(1), LossConfig(beta=0.0))
    result.loss.backward()
    assert result.metrics["kl"].item() > 0
    assert not logps.grad.any()


def test_that_the_bias_correction_multiplies_kl_by_the_ratio_before_delta():
    logps, old, ref = torch.tensor([[-1.0]]), torch.tensor([[-3.0]]), torch.tensor([[-2.0]])
    plain = grpo_loss(logps, old, ref, torch.ones(1, 1), torch.ones(1), LossConfig(beta=1.0, delta=1.5))
    corrected = LossConfig(beta=1.0, delta=1.5, use_bias_correction_kl=True)
    result = grpo_loss(logps, old, ref, torch.ones(1, 1), torch.ones(1), corrected)
    assert result.kl.item() == pytest.approx(math.exp(2) * plain.kl.item(), rel=1e-6)


def test_that_the_first_update_has_the_mean_of_minus_the_advantages_and_a_gradient():
    logps = torch.tensor([[-1.0, -2.0], [-0.5, -0.1]], requires_grad=True)
    result = grpo_loss(logps, logps.detach(), None, torch.ones(2, 2), torch.tensor([1.5, -1.5]), LossConfig())
    result.loss.backward()
    assert result.loss.item() == 0
    assert logps.grad.tolist() == [[-0.375, -0.375], [0.375, 0.375]]
    assert not result.clipped.any()


def test_that_a_log_ratio_is_clamped_before_exp():
    result, _ = one_token(-1.0, math.exp(30))
    assert result.ratio.item() == pytest.approx(math.exp(20))
    assert math.isfinite(result.loss.item())


def test_that_the_sequence_ratio_is_the_exp_of_the_mean_over_the_tokens_of_the_completion():
    old = torch.full((2, 3), -1.0, dtype=torch.float64)
    logps = old + torch.tensor([[0.3, 0.1, 9.0], [-0.6, 0.0, 0.0]], dtype=torch.float64)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    config = LossConfig(importance_sampling_level="sequence", epsilon=0.1)
    result = grpo_loss(logps, old, None, mask, torch.tensor([1.0, -1.0]), config)
    assert result.ratio[:, 0].tolist() == pytest.approx([math.exp(0.2), math.exp(-0.2)])
    assert result.clipped.tolist() == [[1, 1, 0], [-1, -1, -1]]
    # means over completions, not over tokens
    assert result.metrics["clip_ratio/high_mean"].item() == 0.5
    assert result.metrics["clip_ratio/low_mean"].item() == 0.5


def test_that_dr_grpo_divides_by_the_configured_length_not_by_the_padded_one():
    config = LossConfig(loss_type="dr_grpo", max_completion_length=10)
    for padded in (4, 7):
        logps = torch.zeros(1, padded)
        mask = torch.arange(padded).unsqueeze(0) < 4
        assert grpo_loss(logps, None, None, mask, torch.tensor([-1.0]), config).loss.item() == pytest.approx(0.4)


def test_that_beta_without_a_reference_is_refused():
    logps = torch.zeros(1, 1)
    with pytest.raises(ValueError, match="reference"):
        grpo_loss(logps, None, None, torch.ones(1, 1), torch.ones(1), LossConfig(beta=0.1))


def test_that_advantages_in_double_precision_do_not_change_the_dtype_of_the_loss():
    logps = torch.zeros(1, 2, dtype=torch.float32)
    result = grpo_loss(logps, None, None, torch.ones(1, 2), torch.ones(1, dtype=torch.float64), LossConfig())
    assert result.loss.dtype == torch.float32


def test_that_the_tokens_of_the_batch_may_be_a_tensor():
    logps = torch.zeros(2, 4)
    config = LossConfig(loss_type="dapo")
    for tokens in (16, torch.tensor(16)):
        result = grpo_loss(logps, None, None, torch.ones(2, 4), -torch.ones(2), config, tokens_in_batch=tokens)
        assert result.loss.item() == pytest.approx(0.5)


def test_that_the_completion_with_a_value_that_is_not_finite_can_be_named():
    logps = torch.zeros(3, 2)
    logps[1, 0] = math.nan
    result = grpo_loss(logps, torch.zeros(3, 2), None, torch.ones(3, 2), torch.ones(3), LossConfig())
    assert not result.loss.isfinite()
    assert result.completion_losses.isfinite().tolist() == [True, False, True]


# --- properties over random batches ---


@st.composite
def configs(draw, loss_types=LOSS_TYPES):
    loss_type = draw(st.sampled_from(loss_types))
    return LossConfig(
        loss_type=loss_type,
        importance_sampling_level=draw(st.sampled_from(LEVELS)),
        epsilon=draw(st.sampled_from([0.05, 0.2])),
        epsilon_high=1.3 if loss_type == "cispo" else draw(st.sampled_from([None, 0.28])),
        delta=draw(st.sampled_from([None, 1.1, 1.5])),
        beta=draw(st.sampled_from([0.0, 0.04, 1.0])),
        use_bias_correction_kl=draw(st.booleans()),
        max_completion_length=9,
    )


@st.composite
def batches(draw):
    """Log-probs, masks with every kind of length (0 too) and advantages, from one seed; T stays below 9."""
    rows, tokens = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    lengths = draw(st.lists(st.integers(0, tokens), min_size=rows, max_size=rows).filter(any))

    def noise(scale):
        return scale * torch.randn(rows, tokens, generator=generator, dtype=torch.float64)

    logps = -noise(1.0).abs()
    old = logps + noise(draw(st.sampled_from([0.0, 0.1, 1.0, 8.0])))
    ref = logps + noise(draw(st.sampled_from([0.0, 0.5])))
    mask = torch.arange(tokens) < torch.tensor(lengths).unsqueeze(1)
    advantages = torch.randn(rows, generator=generator, dtype=torch.float64)
    return logps, old, ref, mask, advantages


def gradient_of(batch, config, splits=1, entropy=None):
    """The gradient of the summed losses over `splits` micro-batches, and the results."""
    logps, old, ref, mask, advantages = batch
    logps = logps.clone().requires_grad_()
    results = []
    for rows in torch.arange(len(logps)).tensor_split(splits):
        if len(rows) == 0:
            continue
        result = grpo_loss(
            logps[rows],
            None if old is None else old[rows],
            None if ref is None else ref[rows],
            mask[rows],
            advantages[rows],
            config,
            tokens_in_batch=int(mask.sum()),
            completions_in_batch=len(logps),
        )
        result.loss.backward()
        results.append(result)
    return logps.grad, results


@given(batches(), configs())
def test_that_the_fast_code_agrees_with_the_obvious_one(batch, config):
    logps, old, ref, mask, advantages = batch
    result = grpo_loss(logps, old, ref, mask, advantages, config)
    expected = loss_of_batch(logps.tolist(), old.tolist(), ref.tolist(), mask.tolist(), advantages.tolist(), config)
    assert result.loss.item() == pytest.approx(expected.loss, rel=1e-9, abs=1e-6)
    metrics = {name: value.item() for name, value in result.metrics.items()}
    assert metrics == pytest.approx(expected.metrics, rel=1e-9, abs=1e-6)
    lengths = mask.sum(1).tolist()
    assert [row[:length] for row, length in zip(result.clipped.tolist(), lengths, strict=True)] == expected.clipped
    assert not result.clipped[~mask].any()


@given(batches(), configs(), st.integers(2, 4))
def test_that_splitting_into_micro_batches_changes_no_gradient(batch, config, splits):
    if config.loss_type == "bnpo":  # defined by the micro-batch
        return
    whole, _ = gradient_of(batch, config)
    split, results = gradient_of(batch, config, splits)
    torch.testing.assert_close(split, whole, rtol=1e-9, atol=1e-12)
    assert sum(result.loss.item() for result in results) == pytest.approx(gradient_of(batch, config)[1][0].loss.item())


@given(batches(), configs())
def test_that_on_policy_equals_old_logps_of_the_same_values(batch, config):
    logps, _, ref, mask, advantages = batch
    without, results = gradient_of((logps, None, ref, mask, advantages), config)
    given_, results_given = gradient_of((logps, logps, ref, mask, advantages), config)
    torch.testing.assert_close(without, given_, rtol=0, atol=0)
    assert results[0].loss.item() == results_given[0].loss.item()
    assert (results[0].ratio == 1).all()


@given(batches(), configs())
def test_that_kl_is_never_negative_and_clip_metrics_are_shares(batch, config):
    result = grpo_loss(*batch[:4], batch[4], config)
    assert (result.kl >= 0).all()
    metrics = {name: value.item() for name, value in result.metrics.items()}
    for name, value in metrics.items():
        if "clip_ratio" in name:
            assert 0 <= value <= 1, name
    if config.loss_type != "cispo":
        parts = metrics["clip_ratio/low_mean"] + metrics["clip_ratio/high_mean"]
        assert metrics["clip_ratio/region_mean"] == pytest.approx(parts)
        assert metrics["clip_ratio/low_min"] <= 1
    assert metrics["ratio/min"] <= metrics["ratio/max"]


@given(st.lists(st.floats(-30, 0, width=32), min_size=2, max_size=20))
def test_that_kl_is_never_negative_in_single_precision(values):
    logps = torch.tensor([values])
    nearby = torch.nextafter(logps, torch.tensor(1.0))
    for ref in (logps.flip(1), nearby):
        mask = torch.ones_like(logps)
        assert (grpo_loss(logps, None, ref, mask, torch.zeros(1), LossConfig()).kl >= 0).all()


@given(batches(), configs(), st.sampled_from([math.nan, math.inf, -math.inf, -1e4]))
def test_that_whatever_stands_outside_of_the_mask_is_ignored(batch, config, filler):
    _, _, _, mask, advantages = batch
    dirty = tuple(values.masked_fill(~mask, filler) for values in batch[:3])
    expected, (clean,) = gradient_of(batch, config)
    gradient, (result,) = gradient_of((*dirty, mask, advantages), config)
    assert result.loss.item() == clean.loss.item()
    torch.testing.assert_close(gradient, expected, rtol=0, atol=0)
    assert not gradient[~mask].any()
    assert (result.ratio[~mask] == clean.ratio[~mask]).all()
    assert not result.kl[~mask].any()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_that_a_batch_without_one_token_has_loss_zero_and_gradient_zero(loss_type, level):
    config = LossConfig(
        loss_type=loss_type, importance_sampling_level=level, epsilon_high=0.3, beta=0.1, max_completion_length=4
    )
    logps = torch.zeros(2, 3, requires_grad=True)
    result = grpo_loss(logps, torch.ones(2, 3), torch.ones(2, 3), torch.zeros(2, 3), torch.ones(2), config)
    result.loss.backward()
    assert result.loss.item() == 0
    assert not logps.grad.any()
    assert math.isnan(result.sums.result()["kl"])


@given(batches(), configs())
def test_that_advantages_per_token_may_be_given(batch, config):
    per_token = batch[4].unsqueeze(1).expand_as(batch[0])
    expected, (by_completion,) = gradient_of(batch, config)
    gradient, (by_token,) = gradient_of((*batch[:4], per_token), config)
    assert by_token.loss.item() == pytest.approx(by_completion.loss.item(), rel=1e-9, abs=1e-6)
    torch.testing.assert_close(gradient, expected)
    assert torch.equal(by_token.clipped, by_completion.clipped)


@given(batches(), configs())
def test_that_the_order_of_the_completions_does_not_matter(batch, config):
    backwards = tuple(values.flip(0) for values in batch)
    expected, (forwards,) = gradient_of(batch, config)
    gradient, (result,) = gradient_of(backwards, config)
    assert result.loss.item() == pytest.approx(forwards.loss.item(), rel=1e-9, abs=1e-6)
    torch.testing.assert_close(gradient.flip(0), expected)


@settings(max_examples=25)
@given(batches(), configs(["grpo", "bnpo", "dapo", "dr_grpo"]))
def test_that_the_gradient_is_that_of_the_loss(batch, config):
    logps, old, ref, mask, advantages = batch

    def loss(values):
        return grpo_loss(values, old, ref, mask, advantages, config).loss

    edges = (1 - config.epsilon, 1 + config.upper_epsilon, *([] if config.delta is None else [config.delta]))
    ratio = grpo_loss(logps, old, ref, mask, advantages, config).ratio
    if any(((ratio - edge).abs() < 1e-4).any() for edge in edges) or (ratio.log().abs() > 19).any():
        return  # beside a kink finite differences say nothing
    assert torch.autograd.gradcheck(loss, logps.clone().requires_grad_(), atol=1e-4)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_that_the_gpu_gives_the_loss_of_the_cpu(loss_type):
    config = LossConfig(loss_type=loss_type, epsilon_high=0.3, beta=0.1, max_completion_length=16)
    generator = torch.Generator().manual_seed(0)
    logps, old, ref = (-torch.rand(64, 16, generator=generator) for _ in range(3))
    mask = torch.arange(16) < torch.randint(1, 17, (64, 1), generator=generator)
    advantages = torch.randn(64, generator=generator)
    here = grpo_loss(logps, old, ref, mask, advantages, config)
    there = grpo_loss(*(value.cuda() for value in (logps, old, ref, mask, advantages)), config)
    assert there.loss.item() == pytest.approx(here.loss.item(), abs=1e-4)
    assert there.sums.result() == pytest.approx(here.sums.result(), abs=1e-4)
