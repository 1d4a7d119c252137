"""A run that looks like a real one, made from a seed: for tests and pictures of the Train view."""

import math
import random
import struct

import numpy as np

from grpo_gui.events import (
    CompletionSample,
    EvalCompleted,
    GroupSample,
    HyperparameterChanged,
    RunStarted,
    RunStatus,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.training.config import RewardSpec, TrainConfig

CONFIG = TrainConfig(
    preset="default",
    task="sort",
    min_size=3,
    max_size=6,
    rewards=(RewardSpec("exact", "exact", 0.8), RewardSpec("format", "regex", 0.2, r"\d+")),
    num_iterations=4,
    steps=300,
)
START_S = 1_700_000_000.0


def events(run_id: int = 1, steps: int = 143, *, seed: int = 0, config: TrainConfig = CONFIG, broken=(), prompt=None):
    """Yield the events of a run: `broken` steps have a loss and gradient norm that are not finite."""
    rng = random.Random(seed)
    yield TrainerStatus(run_id, RunStatus.WARMING_UP, 0)
    yield RunStarted(run_id, 0, "cpu", 590_000, (("torch", "2.13.0"),))
    yield TrainerStatus(run_id, RunStatus.RUNNING, 0)
    for step in range(1, steps + 1):
        yield step_event(run_id, step, rng, config, is_broken=step in broken, prompt=prompt)
        if step % 10 == 0:
            skill = _skill(step)
            yield EvalCompleted(
                run_id,
                step,
                START_S + step * 0.09,
                (("eval/reward", skill + rng.gauss(0, 0.01)), ("eval/accuracy", skill - 0.05 + rng.gauss(0, 0.01))),
            )
        if step == 96:
            yield HyperparameterChanged(run_id, 97, "learning_rate", 3e-4, 2e-4)


def step_event(run_id, step, rng, config=CONFIG, *, is_broken=False, prompt=None):
    groups = tuple(_group(index, step, rng, config, prompt) for index in range(config.prompts_per_step))
    metrics = _metrics(step, rng, groups, config) | ({"loss": math.nan, "grad_norm": math.inf} if is_broken else {})
    return StepCompleted(run_id, step, step * 2, START_S + step * 0.09, tuple(metrics.items()), groups)


def _skill(step):
    return 0.92 - 0.36 * math.exp(-step / 55)


def _group(index, step, rng, config, prompt):
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(3, 6)))
    answer = "".join(sorted(digits))
    difficulty = 0.05 * (len(digits) - 4.5)
    texts = []
    for _ in range(config.num_generations):
        text = list(answer)
        if rng.random() > _skill(step) - difficulty:
            place = rng.randrange(len(text) - 1)
            text[place], text[place + 1] = text[place + 1], text[place]
            if rng.random() < 0.1:
                text[place] = " "
        texts.append("".join(text))
    exact = [1.0 if text == answer else 0.0 for text in texts]
    formats = [1.0 if text.isdigit() else 0.0 for text in texts]
    rewards = [0.8 * a + 0.2 * b for a, b in zip(exact, formats, strict=True)]
    spread = np.std(rewards, ddof=1)
    advantages = [0.0 if spread == 0 else float((r - np.mean(rewards)) / (spread + 1e-4)) for r in rewards]
    samples = tuple(
        _completion(place, texts[place], exact[place], formats[place], rewards[place], advantages[place], step, rng)
        for place in range(config.num_generations)
    )
    return GroupSample(index, "sort", prompt or f"Sort the digits: {digits}", answer, (1, 2, 3), samples)


def _completion(place, text, exact, form, reward, advantage, step, rng):
    tokens = (*text, "<eos>")
    count = len(tokens)
    old = [-abs(rng.gauss(0, 0.3)) for _ in tokens]
    now = [value + rng.gauss(0.05 * advantage, 0.06) for value in old]
    clipped = bytes(
        (1 if n - o > 0.15 and advantage > 0 else 255 if n - o < -0.15 and advantage < 0 else 0)
        for o, n in zip(old, now, strict=True)
    )
    ratios = [math.exp(n - o) for o, n in zip(old, now, strict=True)]
    return CompletionSample(
        index=place,
        text=text,
        token_ids=tuple(range(10, 10 + count)),
        tokens=tokens,
        truncated=False,
        correct=exact == 1.0,
        reward=reward,
        rewards=(("exact", exact), ("format", form)),
        advantage=advantage,
        old_logps=struct.pack(f"<{count}f", *old),
        logps=struct.pack(f"<{count}f", *now),
        ref_logps=struct.pack(f"<{count}f", *[value - abs(rng.gauss(0, 0.2)) for value in now]),
        entropy=struct.pack(f"<{count}f", *[abs(rng.gauss(0.2, 0.2)) for _ in tokens]),
        clipped=clipped,
        ratio_min=min(ratios),
        ratio_max=max(ratios),
        clip_fraction_low=clipped.count(255) / count,
        clip_fraction_high=clipped.count(1) / count,
        kl_mean=0.1,
        kl_max=0.4,
    )


def _metrics(step, rng, groups, config):
    samples = [sample for group in groups for sample in group.completions]
    rewards = np.array([sample.reward for sample in samples])
    lengths = np.array([len(sample.token_ids) for sample in samples])
    advantages = np.array([sample.advantage for sample in samples])
    dead = [group for group in groups if not any(sample.advantage for sample in group.completions)]
    right = [group for group in dead if all(sample.correct for sample in group.completions)]
    kl = 0.16 * (1 - math.exp(-step / 40)) * math.exp(rng.gauss(0, 0.1)) + 0.005
    wave = math.exp(-step / 60)
    parts = {
        "time/rollout": 0.013 + abs(rng.gauss(0, 0.001)),
        "time/reward": 0.001,
        "time/logps": 0.011 + abs(rng.gauss(0, 0.0005)),
        "time/update": 0.063 + abs(rng.gauss(0, 0.002)),
        "time/store": 0.002,
    }
    return {
        "reward": float(rewards.mean()),
        "reward_std": float(rewards.std(ddof=1)),
        "rewards/exact/mean": float(np.mean([dict(s.rewards)["exact"] for s in samples])),
        "rewards/exact/std": 0.4,
        "rewards/format/mean": float(np.mean([dict(s.rewards)["format"] for s in samples])),
        "rewards/format/std": 0.1,
        "frac_reward_zero_std": len(dead) / len(groups),
        "dead_groups/all_right": len(right) / len(groups),
        "dead_groups/all_wrong": (len(dead) - len(right)) / len(groups),
        "dead_groups/other": 0.0,
        "advantage/mean": float(advantages.mean()),
        "advantage/std": float(advantages.std(ddof=1)),
        "completions/mean_length": float(lengths.mean()),
        "completions/min_length": float(lengths.min()),
        "completions/max_length": float(lengths.max()),
        "completions/clipped_ratio": 0.0,
        "loss": -0.035 * wave + rng.gauss(0, 0.02),
        "policy_loss": -0.035 * wave + rng.gauss(0, 0.02),
        "kl": kl,
        "kl/max": kl * 14 * math.exp(rng.gauss(0, 0.5)),
        "entropy": 0.33 + 0.6 * wave + rng.gauss(0, 0.02),
        "grad_norm": 0.35 + 0.9 * wave + abs(rng.gauss(0, 0.12)),
        "learning_rate": 3e-4,
        "clip_ratio/low_mean": (0.006 + 0.01 * wave) * math.exp(rng.gauss(0, 0.4))
        if config.num_iterations > 1
        else 0.0,
        "clip_ratio/high_mean": (0.009 + 0.012 * wave) * math.exp(rng.gauss(0, 0.4))
        if config.num_iterations > 1
        else 0.0,
        "clip_ratio/region_mean": 0.02,
        "step_time": sum(parts.values()),
        "num_tokens": float(step * lengths.sum()),
        "tokens_per_second": 4100.0,
    } | parts
