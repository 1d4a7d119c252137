import math
from dataclasses import replace

import pytest
import torch

from grpo_gui.errors import TrainingError
from grpo_gui.training.learner import FinishedStep, Learner
from grpo_gui.training.learner_state import capture, restore
from grpo_gui.training.rollout import Rollout
from grpo_gui.training.state import load_state, save_state
from grpo_gui.training.update import inner_update
from tests.training.fakes import never, same_weights, tiny_config, tiny_learner, weights_of

NAMES = [
    "loss",
    "policy_loss",
    "kl",
    "kl/max",
    "check/first_ratio",
    "check/mask_tokens",
    "check/end_in_mask",
    "check/weights_change",
    "entropy",
    "grad_norm",
    "learning_rate",
    "reward",
    "reward_std",
    "reward_group_std",
    "rewards/length/mean",
    "rewards/length/std",
    "frac_reward_zero_std",
    "completions/mean_length",
    "completions/min_length",
    "completions/max_length",
    "completions/clipped_ratio",
    "completions/mean_terminated_length",
    "clip_ratio/low_mean",
    "clip_ratio/high_mean",
    "clip_ratio/region_mean",
    "clip_ratio/low_min",
    "clip_ratio/high_max",
    "num_tokens",
    "advantage/mean",
    "advantage/std",
    "advantage/min",
    "advantage/max",
    "dead_groups/all_right",
    "dead_groups/all_wrong",
    "dead_groups/other",
    "ratio/min",
    "ratio/max",
]


class BrokenOffError(Exception):
    """What a checkpoint raises to break off a step."""


def break_off_at(call: int):
    """A checkpoint that raises when it is called for the `call`-th time."""
    calls = iter(range(1, call + 1))

    def checkpoint() -> None:
        if next(calls, call) == call:
            raise BrokenOffError

    return checkpoint


class _BadGradient(torch.autograd.Function):
    """Passes values on; what comes back for one row is not a number where it is not 0."""

    @staticmethod
    def forward(ctx, values, row):
        ctx.row = row
        return values.clone()

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.clone()
        gradient[ctx.row] = torch.where(gradient[ctx.row] != 0, torch.nan, 0.0)
        return gradient, None


def spoil(learner: Learner, monkeypatch: pytest.MonkeyPatch, row: int, how) -> None:
    """Let `how(logps, row)` change the log-probs of a rollout's row, also when it comes in a micro-batch."""
    logps_of = learner.policy.logps

    def spoiled(prompts, completions, lengths, **options):
        logps, entropy = logps_of(prompts, completions, lengths, **options)
        here = row - completions.storage_offset() // completions.stride(0)
        return (how(logps, here) if 0 <= here < len(logps) else logps), entropy

    monkeypatch.setattr(learner.policy, "logps", spoiled)


def steps(learner: Learner, count: int) -> list[FinishedStep]:
    return [learner.do_step(never) for _ in range(count)]


def test_that_a_step_reports_every_metric_and_moves_the_weights(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model))
    before = weights_of(learner)
    (finished,) = steps(learner, 1)
    assert set(finished.metrics) == set(NAMES)
    assert all(math.isfinite(finished.metrics[name]) for name in NAMES if "terminated" not in name)
    assert (learner.step, learner.optimizer_step) == (1, 2)
    assert not same_weights(before, weights_of(learner))
    assert same_weights(before, dict(learner.reference.state_dict()))


def test_that_the_same_seed_gives_the_same_numbers_and_another_seed_others(tiny_model):
    runs = [tiny_learner(tiny_config(tiny_model, seed=seed)) for seed in (1, 1, 2)]
    first, again, other = ([step.metrics for step in steps(run, 2)] for run in runs)
    assert first == again
    assert same_weights(weights_of(runs[0]), weights_of(runs[1]))
    assert first != other


def test_that_the_first_inner_update_has_ratio_one_and_clips_nothing(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model, num_iterations=1, beta=0.0))
    (finished,) = steps(learner, 1)
    metrics = finished.metrics
    assert metrics["clip_ratio/region_mean"] == 0
    assert metrics["ratio/min"] == pytest.approx(1, abs=1e-4)
    assert metrics["ratio/max"] == pytest.approx(1, abs=1e-4)
    assert metrics["policy_loss"] == pytest.approx(0, abs=1e-5)
    assert metrics["grad_norm"] > 1e-3
    assert metrics["kl"] == pytest.approx(0, abs=1e-6)


def test_that_the_second_inner_update_has_a_negative_loss_and_clips(tiny_model):
    learner = tiny_learner(tiny_config(tiny_model, num_iterations=2, beta=0.0))
    (finished,) = steps(learner, 1)
    assert finished.metrics["policy_loss"] < -1e-4
    assert finished.metrics["clip_ratio/region_mean"] > 0
    assert finished.metrics["kl"] > 0, "KL is measured though beta is 0"


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
def test_that_micro_batches_do_not_change_the_update(tiny_model, loss_type: str):
    drawing = tiny_learner(tiny_config(tiny_model))
    with pytest.raises(BrokenOffError):
        drawing.do_step(break_off_at(3))  # sampled, scored, not yet updated
    updates = []
    for size in (0, 2, 1):
        learner = tiny_learner(tiny_config(tiny_model, loss_type=loss_type, micro_batch_prompts=size))
        updates.append(inner_update(learner.policy, learner.optimizer, drawing.progress.rollout, learner.config, never))
    whole, *splits = updates
    for split in splits:
        assert split.grad_norm == pytest.approx(whole.grad_norm, rel=1e-4)
        torch.testing.assert_close(split.logps, whole.logps, rtol=1e-4, atol=1e-5)
        for name, value in whole.sums.result().items():
            assert split.sums.result()[name] == pytest.approx(value, rel=1e-4, abs=1e-6), name


def test_that_prompts_may_have_equal_texts_without_merging_their_groups(tiny_model):
    config = tiny_config(tiny_model, task="sort", min_size=2, max_size=2, prompts_per_step=64, num_generations=2)
    (finished,) = steps(tiny_learner(config), 1)
    prompts = [problem.prompt for problem in finished.rollout.drawn.problems]
    assert len(set(prompts)) < len(prompts)
    assert finished.rollout.advantages.shape == (64, 2)
    assert abs(finished.rollout.advantages.sum(axis=1)).max() < 1e-9


def test_that_truncated_completions_are_masked_on_request_but_stay_in_the_group_mean(tiny_model):
    config = tiny_config(tiny_model, max_completion_length=2, mask_truncated_completions=True)
    (finished,) = steps(tiny_learner(config), 1)
    rollout = finished.rollout
    cut = torch.tensor(rollout.read.truncated)
    assert cut.any()
    assert not rollout.mask[cut].any()
    assert rollout.tokens_in_batch == int(rollout.mask.sum())
    assert not math.isnan(rollout.totals[int(cut.nonzero()[0])])


@pytest.mark.parametrize("call", range(1, 9))
def test_that_a_step_that_is_broken_off_anywhere_gives_the_same_numbers(tiny_model, tmp_path, call: int):
    """Two micro-batches: sampling 1-2, reference 3-4, first inner update 5-6, second 7-8."""
    config = tiny_config(tiny_model, micro_batch_prompts=2)
    straight = tiny_learner(config)
    expected = [step.metrics for step in steps(straight, 3)]

    in_memory = tiny_learner(config)
    first = in_memory.do_step(never)
    with pytest.raises(BrokenOffError):
        in_memory.do_step(break_off_at(call))
    from_disk = tiny_learner(config)
    restore(from_disk, load_state(save_state(tmp_path, capture(in_memory))))
    for learner in (in_memory, from_disk):
        metrics = [first.metrics] + [step.metrics for step in steps(learner, 2)]
        assert metrics == expected
        assert same_weights(weights_of(learner), weights_of(straight))


def test_that_a_restored_learner_goes_on_bit_by_bit(tiny_model, tmp_path):
    straight = tiny_learner(tiny_config(tiny_model, steps=10))
    expected = [step.metrics for step in steps(straight, 10)]
    stopped = tiny_learner(tiny_config(tiny_model, steps=10))
    first = [step.metrics for step in steps(stopped, 5)]
    resumed = tiny_learner(tiny_config(tiny_model, steps=10))
    restore(resumed, load_state(save_state(tmp_path, capture(stopped))))
    assert first + [step.metrics for step in steps(resumed, 5)] == expected
    assert same_weights(weights_of(straight), weights_of(resumed))


def test_that_a_state_of_another_model_is_refused(tiny_model, tmp_path):
    learner = tiny_learner(tiny_config(tiny_model))
    state = capture(learner)
    with pytest.raises(TrainingError, match="does not fit"):
        restore(tiny_learner(tiny_config(tiny_model)), type(state)(state.weights, {}, state.values))


def test_that_a_run_is_not_resumed_from_another_base_model(tiny_model):
    state = capture(tiny_learner(tiny_config(tiny_model)))
    other = tiny_learner(tiny_config(tiny_model))
    with torch.no_grad():
        next(other.reference.parameters()).add_(1)
    with pytest.raises(TrainingError, match="not the one this run began with"):
        restore(other, state)


def test_that_a_non_finite_gradient_names_the_completion_and_leaves_the_weights(tiny_model, monkeypatch):
    learner = tiny_learner(tiny_config(tiny_model))
    learner.do_step(never)
    before = weights_of(learner)
    spoil(learner, monkeypatch, 6, _BadGradient.apply)
    with pytest.raises(TrainingError, match=r"gradient of completion 3 .* to prompt 2 .*not finite"):
        learner.do_step(never)
    assert same_weights(before, weights_of(learner))


def test_that_a_non_finite_loss_names_the_completion_and_leaves_the_weights(tiny_model, monkeypatch):
    learner = tiny_learner(tiny_config(tiny_model, micro_batch_prompts=2))
    before = weights_of(learner)
    spoil(learner, monkeypatch, 5, lambda logps, row: logps.index_fill(0, torch.tensor([row]), torch.nan))
    with pytest.raises(TrainingError, match=r"loss of completion 2 .* to prompt 2 .*not finite"):
        learner.do_step(never)
    assert same_weights(before, weights_of(learner))


def test_that_bf16_changes_the_precision_and_nothing_else(tiny_model):
    """On the processor, where a run refuses bf16; the code is that of CUDA."""
    (exact,), (rough,) = (steps(tiny_learner(tiny_config(tiny_model, bf16=bf16)), 1) for bf16 in (False, True))
    assert rough.last_update.logps.dtype is torch.float32
    assert rough.rollout.drawn.old_logps.dtype is torch.float32
    assert 0 < rough.metrics["grad_norm"] < math.inf
    assert rough.metrics["ratio/max"] != exact.metrics["ratio/max"]
    assert all(
        parameter.dtype is torch.float32 for parameter in tiny_learner(tiny_config(tiny_model)).policy.parameters()
    )


def moved(rollout: Rollout, device: str) -> Rollout:
    tensors = {name: value.to(device) for name, value in rollout.drawn._asdict().items() if torch.is_tensor(value)}
    return replace(
        rollout,
        drawn=rollout.drawn._replace(**tensors),
        mask=rollout.mask.to(device),
        advantage_rows=rollout.advantage_rows.to(device),
    )


@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param(
            "cuda",
            marks=[
                pytest.mark.gpu,
                pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
            ],
        ),
    ],
)
def test_that_the_updates_of_a_rollout_are_the_same_on_every_device(tiny_model, device: str):
    config = tiny_config(tiny_model)
    drawing = tiny_learner(config)
    with pytest.raises(BrokenOffError):
        drawing.do_step(break_off_at(3))  # sampled, scored, not yet updated
    expected = [inner_update(drawing.policy, drawing.optimizer, drawing.progress.rollout, config, never) for _ in "12"]
    there = tiny_learner(config, device)
    rollout = moved(drawing.progress.rollout, device)
    for update in expected:
        result = inner_update(there.policy, there.optimizer, rollout, config, never)
        assert result.grad_norm == pytest.approx(update.grad_norm, rel=1e-3)
        for name in ("loss", "policy_loss", "kl", "entropy"):
            assert result.sums.result()[name] == pytest.approx(update.sums.result()[name], abs=1e-4), name


def test_that_a_step_for_which_memory_is_short_leaves_the_learning_rate_as_it_was(tiny_model, monkeypatch):
    learner = tiny_learner(tiny_config(tiny_model))
    with pytest.raises(BrokenOffError):
        learner.do_step(break_off_at(3))  # sampled, scored, not yet updated
    optimizer, rollout = learner.optimizer, replace(learner.progress.rollout, step_share=0.5)
    before = optimizer.param_groups[0]["lr"]
    seen = []

    def fail():
        seen.append(optimizer.param_groups[0]["lr"])
        raise torch.OutOfMemoryError

    monkeypatch.setattr(optimizer, "step", fail)
    with pytest.raises(torch.OutOfMemoryError):
        inner_update(learner.policy, optimizer, rollout, learner.config, never)
    assert seen == [0.5 * before]
    assert optimizer.param_groups[0]["lr"] == before
