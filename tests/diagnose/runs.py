"""Made-up runs: series of metrics, groups of completions, and the findings of chosen detectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from grpo_gui.diagnose.engine import Diagnosis
from grpo_gui.diagnose.facts import RunFacts
from grpo_gui.diagnose.finding import Finding
from grpo_gui.diagnose.reading import Detector, Missing, Reading

Values = Sequence[float] | Callable[[int], float] | float


@dataclass(frozen=True)
class Completion:
    text: str = "a"
    token_ids: tuple[int, ...] = (5, 2)
    truncated: bool = False
    correct: bool | None = None
    reward: float | None = 0.0
    rewards: tuple[tuple[str, float | None], ...] = ()
    advantage: float = 0.0
    old_logps: bytes = b""
    logps: bytes = b""
    ref_logps: bytes = b""


@dataclass(frozen=True)
class Group:
    index: int = 0
    prompt: str = "p"
    completions: tuple[Completion, ...] = ()


@dataclass
class Watched:
    """A run that was fed to a diagnosis, with every change of a finding and the step of it."""

    diagnosis: Diagnosis
    changes: list[tuple[int, Finding]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The findings that are no symptoms, in the order in which they first came."""
        return list(dict.fromkeys(finding.detector for _, finding in self.changes if finding.is_finding))

    @property
    def first(self) -> tuple[int, Finding]:
        return self.changes[0]

    def reading(self, name: str) -> Reading | Missing:
        return self.diagnosis.readings()[name]


def value_at(values: Values, step: int) -> float | None:
    if isinstance(values, int | float):
        return float(values)
    if callable(values):
        return values(step)
    return values[step - 1] if step <= len(values) else None


def watch(
    *detectors: Detector,
    steps: int,
    facts: RunFacts | None = None,
    groups: Callable[[int], tuple[Group, ...]] = lambda step: (),
    every: int = 1,
    **series: Values,
) -> Watched:
    """Feed `steps` steps with the series (`__` in a name stands for `/`); a value of None is not recorded."""
    diagnosis = Diagnosis(facts or RunFacts(), detectors) if detectors else Diagnosis(facts or RunFacts())
    watched = Watched(diagnosis)
    for step in range(1, steps + 1):
        row = {name.replace("__", "/"): value_at(values, step) for name, values in series.items()}
        found = diagnosis.feed_step(
            step * every, {name: value for name, value in row.items() if value is not None}, groups(step)
        )
        watched.changes += [(step * every, finding) for finding in found]
    return watched


def noise(count: int, deviation: float = 1.0, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, deviation, count)


def group_of(rewards: Sequence[float | None], texts: Sequence[str] | None = None, **changes) -> Group:
    """A group with these rewards and advantages centred by hand; `correct` is reward 1 unless given."""
    known = [reward for reward in rewards if reward is not None]
    mean = sum(known) / len(known) if known else 0.0
    spread = float(np.std(known, ddof=1)) if len(known) > 1 else 0.0
    texts = texts or [f"answer {place}" for place in range(len(rewards))]
    index, prompt = changes.pop("index", 0), changes.pop("prompt", "p")
    lengths = changes.pop("lengths", [2] * len(rewards))
    completions = tuple(
        Completion(
            text=text,
            token_ids=(*range(3, 2 + length), 2),
            reward=reward,
            correct=changes.get("correct", None if reward is None else reward == 1),
            rewards=changes.get("sources", (("exact", reward),)),
            advantage=0.0 if reward is None or spread == 0 else (reward - mean) / (spread + 1e-4),
            truncated=changes.get("truncated", False),
        )
        for reward, text, length in zip(rewards, texts, lengths, strict=True)
    )
    return Group(index, prompt, completions)


def logps(*values: float) -> bytes:
    return np.array(values, dtype="<f4").tobytes()
