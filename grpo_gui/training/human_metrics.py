"""What a step says about the ratings it used."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from grpo_gui.grpo.rollout_metrics import dead_groups
from grpo_gui.training.human_term import HumanTerm

Float64Array = npt.NDArray[np.float64]

# What has no value in a step in which nobody and nothing judged: left out, because it is no number that went wrong.
_OF_REWARDS = ("reward", "advantage/", "frac_reward_zero_std", "dead_groups/")


def human_metrics(
    term: HumanTerm, rewards_PGF: Float64Array, advantages_PG: Float64Array, correct: Sequence[bool | None]
) -> dict[str, float]:
    """Return the curve of the human source, late ratings included, and the dead groups among those with an opinion.

    A group that nobody has rated yet is not dead: it may still teach something.
    """
    values = np.array(term.values, dtype=np.float64)
    metrics = {
        "rewards/human/mean": float(values.mean()) if values.size else math.nan,
        "rewards/human/std": float(values.std(ddof=1)) if values.size > 1 else math.nan,
        "ratings/used": float(len(term.used)),
    }
    if term.used:
        metrics["ratings/trust"] = sum(group.trust for group in term.used) / len(term.used)
    spoken = ~np.isnan(rewards_PGF).all(axis=(1, 2))
    judged = np.array(correct, dtype=np.float64).reshape(advantages_PG.shape)
    dead = dead_groups(advantages_PG[spoken], judged[spoken]) if spoken.any() else {}
    return metrics | {
        name: dead.get(name, math.nan)
        for name in ("frac_reward_zero_std", "dead_groups/all_right", "dead_groups/all_wrong", "dead_groups/other")
    }


def of_what_was_judged(metrics: dict[str, float]) -> dict[str, float]:
    """Return the metrics without those of rewards that have no value: unrated is None, not a number that failed."""
    return {name: value for name, value in metrics.items() if not (math.isnan(value) and name.startswith(_OF_REWARDS))}
