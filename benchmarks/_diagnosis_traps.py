"""Runs that other programs call broken and that are not: nothing may be found in them."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks._diagnosis_fixtures import Completion, Group
from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts

STEPS = 200
G, P = 8, 8

Row = dict[str, float]


def healthy(step: int, random: np.random.Generator) -> Row:
    """One step of a run that learns and has nothing wrong with it."""
    right = _right(step)
    return {
        "reward": right + random.normal(0, 0.03),
        "reward_std": math.sqrt(right * (1 - right)),
        "kl": 0.02 + 0.0003 * step + abs(random.normal(0, 0.005)),
        "kl/max": 1.0,
        "entropy": 1.2 - 0.5 * (1 - math.exp(-step / 80)) + random.normal(0, 0.03),
        "loss": random.normal(0, 0.02),
        "grad_norm": 0.8 + random.normal(0, 0.08),
        "learning_rate": 1e-4,
        "clip_ratio/region_mean": 0.03 + abs(random.normal(0, 0.005)),
        "clip_ratio/low_mean": 0.015,
        "clip_ratio/high_mean": 0.015,
        "frac_reward_zero_std": right**G + (1 - right) ** G,
        "completions/mean_length": 40 + random.normal(0, 2),
        "completions/clipped_ratio": 0.01,
        "step_time": 1.0 + abs(random.normal(0, 0.1)),
    }


def _right(step: int) -> float:
    return 0.3 + 0.5 * (1 - math.exp(-step / 80))


@dataclass(frozen=True)
class Trap:
    """How a healthy run is changed so that naive rules take it for broken."""

    change: Callable[[int, Row], Row] = lambda _step, row: row
    facts: RunFacts = RunFacts()  # noqa: RUF009 - frozen
    steps: Sequence[int] = range(1, STEPS + 1)
    with_samples: bool = False


def findings_of(trap: Trap, seed: int = 0) -> list[str]:
    """What the diagnosis says of it."""
    random = np.random.default_rng(seed)
    diagnosis = Diagnosis(trap.facts)
    for step in trap.steps:
        row = healthy(min(step, STEPS), random)
        groups = tuple(_groups(step, random)) if trap.with_samples else ()
        diagnosis.feed_step(step, trap.change(step, row), groups)
    return [finding.detector for finding in diagnosis.findings]


def _groups(step: int, random: np.random.Generator) -> Iterable[Group]:
    for index in range(P):
        rewards = (random.random(G) < _right(step)).astype(float)
        spread = float(rewards.std(ddof=1))
        yield Group(
            index,
            f"{step}/{index}",
            tuple(
                Completion(
                    text=f"answer {place}",
                    token_ids=tuple(random.integers(3, 99, 20).tolist()),
                    truncated=False,
                    reward=reward,
                    rewards=(("exact", reward),),
                    advantage=0.0 if spread == 0 else (reward - float(rewards.mean())) / (spread + 1e-4),
                    correct=reward == 1.0,
                )
                for place, reward in enumerate(rewards.tolist())
            ),
        )


def _padded(step: int, row: Row) -> Row:
    return {name: value if step % 5 == 0 or name == "reward" else math.nan for name, value in row.items()}


_NO_CLIP = {"clip_ratio/region_mean": 0.0, "clip_ratio/low_mean": 0.0, "clip_ratio/high_mean": 0.0, "loss": 0.0}
_NO_KL = {"kl": 0.0, "kl/max": 0.0}
_KEYS = tuple(healthy(1, np.random.default_rng(0)))

TRAPS: dict[str, Trap] = {
    "nothing but healthy": Trap(),
    "padding with NaN": Trap(_padded),
    "binary rewards": Trap(with_samples=True),
    "a small entropy": Trap(lambda step, row: row | {"entropy": 0.02 + 0.001 * math.sin(step)}),
    "clip and loss 0 with one update": Trap(lambda _step, row: row | _NO_CLIP, RunFacts(num_iterations=1)),
    "KL exactly 0 without beta": Trap(lambda _step, row: row | _NO_KL, RunFacts(beta=0.0)),
    "one KL spike": Trap(lambda step, row: row | ({"kl": 500.0} if step == 120 else {})),
    "steps that go back on a resume": Trap(steps=(*range(1, 121), *range(101, 201))),
    "logged every ten steps": Trap(
        lambda step, _row: healthy(step // 10, np.random.default_rng(step)), steps=range(10, 10 * STEPS, 10)
    ),
    "groups of two": Trap(
        lambda _step, row: row | {"frac_reward_zero_std": row["reward"] ** 2 + (1 - row["reward"]) ** 2},
        RunFacts(num_generations=2),
    ),
    **{
        f"without {key}": Trap(lambda _step, row, key=key: {name: row[name] for name in row if name != key})
        for key in _KEYS
    },
    "without anything": Trap(lambda _step, _row: {}),
}
