"""What learns: policy, reference, optimizer and random state, and how one step changes them. No commands, no events."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from grpo_gui.grpo.metric_sums import MetricSums
from grpo_gui.language.policy import Policy
from grpo_gui.tasks.problem import Task
from grpo_gui.training.checks import WeightProbe, step_checks
from grpo_gui.training.clock import StepClock
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.human_term import HumanTerm
from grpo_gui.training.rollout import Checkpoint, Rollout, sample_rollout
from grpo_gui.training.schedule import learning_rate_at
from grpo_gui.training.scoring import Scorer
from grpo_gui.training.update import Update, inner_update, make_optimizer


class RandomState(NamedTuple):
    """Where the two generators of a run stand: that of the sampling and that of the task."""

    sampling: Tensor  # uint8
    task: tuple[int, tuple[int, ...], float | None]  # random.Random.getstate()


@dataclass(slots=True)
class StepInProgress:
    """A rollout and what its inner updates so far have measured."""

    rollout: Rollout
    iteration: int = 0  # inner updates done
    sums: MetricSums = field(default_factory=MetricSums)
    grad_norms: list[float] = field(default_factory=list)
    checks: dict[str, float] = field(default_factory=dict)  # of the first inner update
    term: HumanTerm | None = None  # what people say, once they were asked


class FinishedStep(NamedTuple):
    """A step as the trainer reports it; `last_update` is the last of its inner updates."""

    rollout: Rollout
    last_update: Update
    metrics: dict[str, float]
    term: HumanTerm | None


class Learner:
    """Trains a policy step by step. The same config, policy and seed give the same numbers on the same machine.

    `config` holds for the step at hand; `next_config` takes its place when the next step begins.
    """

    def __init__(self, config: TrainConfig, policy: Policy, task: Task) -> None:
        self.config = self.next_config = config
        self.policy = policy
        self.reference = policy.frozen_copy()
        self.optimizer = make_optimizer(policy, config)
        self.scorer = Scorer(config.rewards)
        self.generator = torch.Generator(policy.device).manual_seed(config.seed)
        self.task_rng = random.Random(config.seed)
        self.clock = StepClock()
        self.step = 0  # complete steps
        self.optimizer_step = 0
        self.num_tokens = 0
        self.step_start: RandomState | None = None  # set while a step is under way
        self.progress: StepInProgress | None = None  # set once its rollout is done
        self._task = task

    def do_step(
        self, checkpoint: Checkpoint, ask_people: Callable[[StepInProgress], None] | None = None
    ) -> FinishedStep:
        """Do the next step, or the rest of one that was broken off; see `inner_update` for what it raises.

        `checkpoint` is called between micro-batches. When it raises, calling again takes up the step where its
        last complete inner update left it: the numbers are those of a step that was never broken off.
        `ask_people` is called once between rollout and updates, and sets the `term` of the step.
        """
        progress = self.progress or self._begin(checkpoint)
        if ask_people is not None and progress.term is None:
            ask_people(progress)
        update = None
        iterations = self.config.num_iterations if progress.rollout.teaches else 1
        while update is None or progress.iteration < iterations:
            probe = WeightProbe(self.policy.parameters()) if progress.iteration == 0 else None
            with self.clock.measure("update"):
                update = inner_update(self.policy, self.optimizer, progress.rollout, self.config, checkpoint)
            if probe is not None:
                progress.checks = step_checks(progress.rollout, update, self.policy.tokenizer, probe)
            progress.sums.merge(update.sums)
            progress.grad_norms.append(update.grad_norm)
            progress.iteration += 1
            self.optimizer_step += progress.rollout.teaches
        return self._finish(progress, update)

    @property
    def next_step(self) -> int:
        """The first step that has not begun: the one for which `next_config` holds."""
        return self.step + (1 if self.step_start is None else 2)

    @cached_property
    def reference_sha256(self) -> str:
        """Hash of the reference's weights: tells whether a saved run meets the model it began with."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.reference.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    def release_memory(self) -> None:
        """Let go of the gradients, and of memory that torch keeps for later."""
        self.optimizer.zero_grad(set_to_none=True)
        if self.policy.device.type == "cuda":
            torch.cuda.empty_cache()

    def random_state(self) -> RandomState:
        """Return where a saved run has to go on: at the start of the step unless its weights have changed since."""
        if self.step_start is not None and (self.progress is None or self.progress.iteration == 0):
            return self.step_start
        return RandomState(self.generator.get_state(), self.task_rng.getstate())

    def set_random_state(self, state: RandomState) -> None:
        """Put both generators where they stood."""
        self.generator.set_state(state.sampling)
        self.task_rng.setstate(state.task)

    def _begin(self, checkpoint: Checkpoint) -> StepInProgress:
        if self.step_start is None:
            self.step_start = self.random_state()
            self.config = self.next_config
        else:
            self.set_random_state(self.step_start)  # the rollout was broken off and is drawn again
        self.clock = StepClock()
        config = self.config
        learning_rate = learning_rate_at(
            self.step + 1,
            peak=config.learning_rate,
            steps=config.steps,
            warmup_steps=config.warmup_steps,
            min_lr_ratio=config.min_lr_ratio,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        rollout = sample_rollout(
            self.policy,
            self.reference,
            self._task,
            self.scorer,
            config,
            task_rng=self.task_rng,
            generator=self.generator,
            clock=self.clock,
            checkpoint=checkpoint,
        )
        self.progress = StepInProgress(rollout)
        return self.progress

    def _finish(self, progress: StepInProgress, update: Update) -> FinishedStep:
        rollout = progress.rollout
        group = self.config.num_generations
        self.num_tokens += sum(len(ids) for ids in rollout.read.completion_ids)
        self.num_tokens += group * sum(len(ids) for ids in rollout.prompt_ids)
        metrics = progress.sums.result() | rollout.metrics | progress.checks
        if update.late is not None:
            metrics["ratings/late_ratio"] = update.late.ratio_mean
            metrics["ratings/late_clipped"] = update.late.clip_fraction
        metrics["grad_norm"] = sum(progress.grad_norms) / len(progress.grad_norms)
        metrics["learning_rate"] = self.optimizer.param_groups[0]["lr"] * rollout.step_share
        metrics["num_tokens"] = float(self.num_tokens)
        self.step += 1
        self.progress = self.step_start = None
        return FinishedStep(rollout, update, metrics, progress.term)
