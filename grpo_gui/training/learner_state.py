"""Learner to training state and back: what is saved at a pause, also in the middle of a step."""

import math
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from torch import Tensor

from grpo_gui.errors import TrainingError
from grpo_gui.grpo.metric_sums import MetricSums, loss_layout
from grpo_gui.tasks.problem import Problem
from grpo_gui.training.clock import StepClock
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.human_term import term_from_values, term_to_values
from grpo_gui.training.learner import Learner, RandomState, StepInProgress
from grpo_gui.training.rating_source import RatingSource
from grpo_gui.training.rollout import Drawn, encode_prompts, judge, read_completions
from grpo_gui.training.state import TrainingState
from grpo_gui.training.validation import config_from_json, config_to_json

HYPERPARAMETERS = (
    "learning_rate",
    "beta",
    "epsilon",
    "epsilon_high",
    "temperature",
    "rating_mode",
    "rating_shrink",
)
_ROLLOUT_TENSORS = ("ids", "lengths", "truncated", "old_logps", "ref_logps")
_SUMS_TENSORS = ("totals", "extremes", "tokens", "completions", "share")


def capture(learner: Learner) -> TrainingState:
    """Return everything that `restore` needs; the tensors still belong to the learner."""
    random_state = learner.random_state()
    tensors = {"random.sampling": random_state.sampling}
    for index, moments in learner.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in moments.items()}
    progress = learner.progress
    values: dict[str, Any] = {
        "step": learner.step,
        "optimizer_step": learner.optimizer_step,
        "num_tokens": learner.num_tokens,
        "reference": learner.reference_sha256,
        "config": config_to_json(learner.config),
        "next_config": config_to_json(learner.next_config),
        "random": list(random_state.task),
        "learning_rate": learner.optimizer.param_groups[0]["lr"],
        "step_begun": learner.step_start is not None,
        "progress": None,
    }
    if progress is not None and progress.iteration > 0:
        tensors |= {f"rollout.{name}": getattr(progress.rollout.drawn, name) for name in _ROLLOUT_TENSORS}
        tensors |= {f"sums.{name}": tensor for name, tensor in progress.sums.parts().items()}
        values["progress"] = _progress_values(progress, learner.clock)
    return TrainingState(learner.policy.state_dict(), tensors, values)


def restore(
    learner: Learner, state: TrainingState, *, is_branch: bool = False, ratings: RatingSource | None = None
) -> None:
    """Put a new learner of the same run where the state was captured; `ratings` brings late groups of its step back.

    Changed hyperparameters come back; everything else of the config is the learner's own. A branch keeps all of its
    own config; it draws its own random numbers when its seed differs, and begins with a whole step.

    Raises:
        ModelError: the weights belong to a model of another shape.
        TrainingError: the state lacks something, or the run began with another model.
    """
    values = state.values
    try:
        if values["reference"] != learner.reference_sha256:
            raise TrainingError(
                f"The model {learner.config.model!r} is not the one this run began with, so KL would be measured from "
                "another reference; put the old model back, or start a new run."
            )
        learner.policy.load_state_dict(state.weights)
        learner.step = int(values["step"])
        learner.optimizer_step = int(values["optimizer_step"])
        learner.num_tokens = int(values["num_tokens"])
        version, words, gauss = values["random"]
        random_state = RandomState(state.tensors["random.sampling"], (version, tuple(words), gauss))
        _restore_optimizer(learner, state)
        if is_branch:
            if config_from_json(values["config"]).seed == learner.config.seed:
                learner.set_random_state(random_state)
            return
        learner.config = with_hyperparameters_of(learner.config, values["config"])
        learner.next_config = with_hyperparameters_of(learner.config, values["next_config"])
        learner.set_random_state(random_state)
        learner.step_start = random_state if values["step_begun"] else None
        if values["progress"] is not None:
            _restore_progress(learner, state, ratings)
    except (KeyError, ValueError, TypeError) as error:
        raise TrainingError(
            f"The training state does not fit this run ({type(error).__name__}: {error}); start a new run."
        ) from error


def with_hyperparameters_of(config: TrainConfig, saved: str) -> TrainConfig:
    """Return `config` with the values that may change while running taken from the JSON text `saved`."""
    other = config_from_json(saved)
    return replace(config, **{name: getattr(other, name) for name in HYPERPARAMETERS})


def _restore_optimizer(learner: Learner, state: TrainingState) -> None:
    moments: dict[int, dict[str, Tensor]] = {}
    for key, tensor in state.tensors.items():
        kind, _, rest = key.partition(".")
        if kind == "optimizer":
            index, _, name = rest.partition(".")
            moments.setdefault(int(index), {})[name] = tensor
    groups = learner.optimizer.state_dict()["param_groups"]
    learner.optimizer.load_state_dict({"state": moments, "param_groups": groups})
    for group in learner.optimizer.param_groups:
        group["lr"] = float(state.values["learning_rate"])


def _progress_values(progress: StepInProgress, clock: StepClock) -> dict[str, Any]:
    drawn = progress.rollout.drawn
    rewards = [[None if math.isnan(value) else value for value in row] for row in drawn.rewards.tolist()]
    return {
        "iteration": progress.iteration,
        "grad_norms": progress.grad_norms,
        "checks": progress.checks,
        "seconds": clock.parts,
        "temperature": drawn.temperature,
        "rewards": rewards,
        "problems": [asdict(problem) for problem in drawn.problems],
        "ratings": None if progress.term is None else term_to_values(progress.term),
    }


def _problem(values: dict[str, Any]) -> Problem:
    """A problem that went through JSON, where messages are lists."""
    return Problem(**values | {"messages": tuple((role, content) for role, content in values.get("messages", ()))})


def _restore_progress(learner: Learner, state: TrainingState, ratings: RatingSource | None) -> None:
    values, config = state.values["progress"], learner.config
    device, tokenizer = learner.policy.device, learner.policy.tokenizer
    drawn = Drawn(
        problems=tuple(_problem(problem) for problem in values["problems"]),
        **{name: state.tensors[f"rollout.{name}"].to(device) for name in _ROLLOUT_TENSORS},
        rewards=np.array(values["rewards"], dtype=np.float64),
        temperature=float(values["temperature"]),
    )
    read = read_completions(drawn.ids, drawn.lengths, drawn.truncated, tokenizer)
    said = values.get("ratings")
    term = None if said is None or ratings is None else term_from_values(said, ratings)
    rollout = judge(drawn, read, encode_prompts(tokenizer, drawn.problems), learner.scorer, config, term)
    layout = loss_layout(
        cispo=config.loss_type == "cispo",
        sequence=config.importance_sampling_level == "sequence",
        with_kl=True,
        with_entropy=True,
    )
    parts = {name: state.tensors[f"sums.{name}"] for name in _SUMS_TENSORS}
    sums = MetricSums.of_batch(
        layout,
        parts["totals"].to(device),
        parts["extremes"].to(device),
        parts["tokens"].to(device),
        completions=int(parts["completions"]),
        share=float(parts["share"]),
    )
    iteration = int(values["iteration"])
    norms = [float(norm) for norm in values["grad_norms"]]
    learner.progress = StepInProgress(rollout, iteration, sums, norms, values.get("checks", {}), term)
    learner.clock = StepClock(values["seconds"])
