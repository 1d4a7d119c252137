"""What the readers return about many runs at once: the bin, sparklines, prompts that runs share."""

from dataclasses import dataclass

from grpo_gui.store.records import Float64Array


@dataclass(frozen=True, slots=True)
class BinnedRun:
    """A run in the bin. `unfinished`: its deletion has begun, so it cannot be taken back."""

    id: int
    name: str
    seed: int
    steps_done: int
    completions: int
    binned_s: float
    unfinished: bool


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A curve in few points: means over equal spans of steps, NaN where a span has no finite value."""

    run_id: int
    values: Float64Array


@dataclass(frozen=True, slots=True)
class SharedPrompt:
    """A prompt that several runs have sampled; per run the newest step at which it did."""

    prompt: str
    steps: tuple[tuple[int, int], ...]  # (run id, step)


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """The place of a group and the mean reward of its completions."""

    step: int
    position: int
    mean_reward: float
