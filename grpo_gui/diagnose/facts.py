"""What the detectors may know of a run beside its numbers: the settings that change what a number means."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

_BOUNDED_KINDS = frozenset({"exact", "numeric", "regex", "length", "partial"})  # between 0 and 1 each
_ANSWER_KINDS = frozenset({"exact", "numeric", "partial"})  # compare with the answer
_HUMAN = "human"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The settings of a run, by TRL's names. None: not known (a run of another program that did not say)."""

    num_generations: int | None = None
    prompts_per_step: int | None = None
    num_iterations: int | None = None
    steps: int | None = None
    max_completion_length: int | None = None
    temperature: float | None = None
    learning_rate: float | None = None
    beta: float | None = None
    epsilon: float | None = None
    epsilon_high: float | None = None
    scale_rewards: str | None = None
    aggregation: str = "sum_then_normalize"
    advantage_std: str = "sample"
    loss_type: str | None = None
    importance_sampling_level: str = "token"
    bf16: bool = False
    vocabulary_size: int | None = None
    sources: tuple[tuple[str, str, float], ...] = field(default=())  # (name, kind or empty, weight)
    mask_truncated_completions: bool = False
    partial_samples: bool = False  # only some samples of each step were recorded

    @property
    def late_rewards(self) -> bool:
        """Whether people rate, mostly after the step, so that its samples do not say all that it learned from."""
        return any(kind == _HUMAN for _, kind, _ in self.sources)

    @property
    def only_people_judge(self) -> bool:
        """Whether nothing but ratings says how good an answer is."""
        return bool(self.sources) and all(kind == _HUMAN for _, kind, _ in self.sources)

    @property
    def reward_ceiling(self) -> float | None:
        """The largest reward there can be, None where it is not known or has no bound."""
        if not self.sources or any(kind not in _BOUNDED_KINDS for _, kind, _ in self.sources):
            return None
        return sum(max(weight, 0.0) for _, _, weight in self.sources)

    @property
    def auxiliary_sources(self) -> tuple[str, ...] | None:
        """The reward sources that do not judge the answer, such as format and length; None where that is not known."""
        if not self.sources or self.late_rewards or not any(kind in _ANSWER_KINDS for _, kind, _ in self.sources):
            return None
        return tuple(name for name, kind, _ in self.sources if kind not in _ANSWER_KINDS)

    @property
    def advantage_bound(self) -> float | None:
        """The largest |advantage| there can be for scale `group`: (G-1)/sqrt(G), or sqrt(G-1) for the population std.

        Source: facts of the sample std of G numbers; reached when one completion differs from all others.
        """
        group = self.num_generations
        if group is None or self.scale_rewards not in ("group", "True") or self.aggregation != "sum_then_normalize":
            return None
        return math.sqrt(group - 1) if self.advantage_std == "population" else (group - 1) / math.sqrt(group)


def facts_from_config(config: Mapping[str, object]) -> RunFacts:
    """Read the facts from a run's config, ours or TRL's training arguments; what is missing stays unknown."""
    return RunFacts(
        num_generations=_whole(config.get("num_generations")),
        prompts_per_step=_whole(config.get("prompts_per_step")),
        num_iterations=_whole(config.get("num_iterations")),
        steps=_whole(config.get("steps", config.get("max_steps"))),
        max_completion_length=_whole(config.get("max_completion_length")),
        temperature=_number(config.get("temperature")),
        learning_rate=_number(config.get("learning_rate")),
        beta=_number(config.get("beta")),
        epsilon=_number(config.get("epsilon")),
        epsilon_high=_number(config.get("epsilon_high")) or _number(config.get("epsilon")),
        scale_rewards=None if config.get("scale_rewards") is None else str(config["scale_rewards"]),
        aggregation=str(config.get("multi_objective_aggregation", "sum_then_normalize")),
        advantage_std=str(config.get("advantage_std", "sample")),
        loss_type=None if config.get("loss_type") is None else str(config["loss_type"]),
        importance_sampling_level=str(config.get("importance_sampling_level", "token")),
        mask_truncated_completions=config.get("mask_truncated_completions") is True,
        partial_samples=config.get("partial_samples") is True,
        bf16=config.get("bf16") is True,
        vocabulary_size=_whole(config.get("vocabulary_size")),
        sources=_sources(config.get("rewards")),
    )


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 1 else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _sources(value: object) -> tuple[tuple[str, str, float], ...]:
    if not isinstance(value, list | tuple):
        return ()
    found = []
    for item in value:
        if not isinstance(item, Mapping):
            return ()
        weight = _number(item.get("weight", 1.0))
        kind = str(item.get("kind", ""))
        found.append((str(item.get("name", kind)), kind, 1.0 if weight is None else weight))
    return tuple(found)
