"""A training step of the candidate network as the event that the Train view shows: completions of one token."""

import time

import numpy as np

from grpo_gui.events import CompletionSample, GroupSample, StepCompleted
from grpo_gui.router.features import Float32Array
from grpo_gui.router.learner import NetworkStep

TASK = "router"


def step_completed(run_id: int, step: NetworkStep, *, inner_steps: int, step_time_s: float) -> StepCompleted:
    """The event of a training step; `inner_steps` are optimizer steps of one step (`num_iterations`)."""
    groups = tuple(_group(step, index) for index in range(len(step.groups)))
    metrics = (*step.metrics.items(), ("step_time", step_time_s))
    return StepCompleted(run_id, step.step, step.step * inner_steps, time.time(), metrics, groups)


def _group(step: NetworkStep, index: int) -> GroupSample:
    decision = step.groups[index].decision
    completions = tuple(_completion(step, index, place) for place in range(len(step.groups[index].rewards)))
    return GroupSample(index, f"{TASK}/{decision.query_class}", decision.query, None, (), completions)


def _completion(step: NetworkStep, index: int, place: int) -> CompletionSample:
    group, result, size = step.groups[index], step.result, step.batch.asked.shape[1]
    model = group.decision.asked[group.rated[place]]
    row = index * size + place
    ratio = float(result.last.ratio[row, 0])
    clipped = int(result.last.clipped[row, 0])
    kl = None if result.last.kl is None else float(result.last.kl[row, 0])
    return CompletionSample(
        index=place,
        text=model,
        token_ids=(int(step.batch.asked[index, place]),),
        tokens=(model,),
        truncated=False,
        correct=None,
        reward=group.rewards[place],
        rewards=(("rating", group.rewards[place]),),
        advantage=group.advantages[place],
        old_logps=_one(result.old_logps, index, place),
        logps=_one(result.logps, index, place),
        ref_logps=_one(result.ref_logps, index, place),
        entropy=_one(result.entropy, index, place),
        clipped=np.array([clipped], dtype=np.int8).tobytes(),
        ratio_min=ratio,
        ratio_max=ratio,
        clip_fraction_low=float(clipped < 0),
        clip_fraction_high=float(clipped > 0),
        kl_mean=kl,
        kl_max=kl,
    )


def _one(values: Float32Array, index: int, place: int) -> bytes:
    return np.array([values[index, place]], dtype="<f4").tobytes()
