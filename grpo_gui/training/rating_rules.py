"""How a run's config uses ratings of people, and what of it cannot be used. Free of torch."""

import math
import re

from grpo_gui.rating.progress import RATING_USES, RatingRules
from grpo_gui.training.config import TrainConfig

HUMAN = "human"  # the kind and the name of the reward that people give

AWAITING = "waits for ratings"  # in the sentence of a status that waits for people


def awaited_step(status: str) -> int | None:
    """The step whose update waits for ratings, as the sentence of a status says it; None when none does."""
    found = re.match(rf"Step (\d+) {AWAITING}", status)
    return int(found[1]) if found else None


def has_human_reward(config: TrainConfig) -> bool:
    """Whether people's ratings are one of the rewards."""
    return any(spec.kind == HUMAN for spec in config.rewards)


def rating_rules(config: TrainConfig, mode: str | None = None) -> RatingRules | None:
    """Return how the run uses ratings, None when they are no reward of it; `mode` takes the place of the config's."""
    weights = [spec.weight for spec in config.rewards if spec.kind == HUMAN]
    if not weights:
        return None
    return RatingRules(
        mode=mode or config.rating_mode,
        weight=weights[0],
        is_alone=all(spec.weight == 0 for spec in config.rewards if spec.kind != HUMAN),
        shrinks=config.rating_shrink,
        quorum=config.rating_quorum,
        max_age=config.rating_max_age,
        late_share=config.rating_late_share,
        prompts_per_step=config.prompts_per_step,
        num_generations=config.num_generations,
    )


def check_human_reward(config: TrainConfig) -> str | None:
    """A sentence when the reward that people give is not named as it must be."""
    if any((spec.kind == HUMAN) != (spec.name == HUMAN) for spec in config.rewards):
        return "The reward of the kind 'human', and only that one, is named 'human'."
    return None


def check_human_blend(config: TrainConfig) -> str | None:
    """A sentence when ratings are blended in a way that lets the wider scale win."""
    if not has_human_reward(config) or config.multi_objective_aggregation == "normalize_then_sum":
        return None
    return (
        "Ratings by hand have a scale of their own, so with them each reward is normalised before they are summed: set "
        "multi_objective_aggregation to normalize_then_sum."
    )


def check_rating_mode(config: TrainConfig) -> str | None:
    """A sentence when there is no such way to use ratings."""
    if config.rating_mode in RATING_USES:
        return None
    return f"The way to use ratings must be one of {', '.join(RATING_USES)}; it is {config.rating_mode!r}."


def check_rating_quorum(config: TrainConfig) -> str | None:
    """A sentence when a waiting update would wait for more groups than a step has."""
    if not has_human_reward(config) or 1 <= config.rating_quorum <= config.prompts_per_step:
        return None
    return (
        f"The groups that must be rated before a waiting update are from 1 to the {config.prompts_per_step} of a step; "
        f"rating_quorum is {config.rating_quorum}."
    )


def check_rating_max_age(config: TrainConfig) -> str | None:
    """A sentence when no rating could ever be young enough."""
    if config.rating_max_age >= 1:
        return None
    return f"The steps until a rating is too old must be 1 or more; rating_max_age is {config.rating_max_age}."


def check_late_share(config: TrainConfig) -> str | None:
    """A sentence when late ratings would take too much of a batch, or could never enter one."""
    share = config.rating_late_share
    if not (math.isfinite(share) and 0 < share <= 0.5):
        return f"The most of a batch that may be late ratings is above 0 and at most 0.5; it is {share:g}."
    if has_human_reward(config) and config.prompts_per_step * share < 1 - share:
        return (
            f"With {config.prompts_per_step} prompts in a step not one group of late ratings fits into {share:.0%} of "
            "a batch, so they would never be used; take more prompts_per_step, or a larger rating_late_share."
        )
    return None


def rating_advice(config: TrainConfig) -> str | None:
    """A sentence for the start of a run that would learn nothing without people."""
    rules = rating_rules(config)
    if rules is None:
        return None
    if rules.mode == "wait":
        return f"Each update waits until {rules.quorum} of its groups are rated in the window's Rate view."
    if not rules.is_alone:
        return None
    if rules.mode == "offline":
        return (
            "Ratings are the only reward: this run learns from those that its groups have now. Rate more in the "
            "window's Rate view, then resume it."
        )
    return (
        "Ratings are the only reward: the model stays as it is until groups are rated in the window's Rate view, which "
        "can be open on the same database."
    )
