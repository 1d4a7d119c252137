"""How often each prompt was answered rightly, and which ones never or always are."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from grpo_gui.diagnose.history import Float64Array

FEWEST = 16  # completions of a prompt before it is listed
OFTEN = 32  # completions after which a prompt counts as tried often
FEWEST_PROMPTS = 8


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """One prompt: `right` of `judged` completions; `learnability` is the posterior Beta(1 + right, 1 + wrong)."""

    prompt: str
    right: int
    judged: int
    last_step: int

    @property
    def mean(self) -> float:
        """Posterior mean of the share right."""
        return (1 + self.right) / (2 + self.judged)

    @property
    def deviation(self) -> float:
        """Posterior standard deviation of the share right."""
        return math.sqrt(self.mean * (1 - self.mean) / (3 + self.judged))

    @property
    def learnability(self) -> float:
        """Four times p (1 - p) at the posterior mean: 1 where half of the completions are right, near 0 at the ends.

        It is the variance of the reward, to which a group's expected signal is proportional.
        """
        return 4 * self.mean * (1 - self.mean)


class PromptOutcomes:
    """Counts right completions per prompt over the run."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, str, int, int]] = []
        self._counted: dict[str, tuple[int, int, int]] = {}  # right, judged, last step
        self._often = 0  # prompts with at least OFTEN judged completions
        self._never = 0  # of these, without a right one

    def add(self, step: int, outcomes: Iterable[tuple[str, int, int]]) -> None:
        """Take in (prompt, right, judged) of the groups of a step."""
        for prompt, right, judged in outcomes:
            self._rows.append((step, prompt, right, judged))
            before = self._counted.get(prompt, (0, 0, 0))
            after = (before[0] + right, before[1] + judged, step)
            self._counted[prompt] = after
            self._often += (after[1] >= OFTEN) - (before[1] >= OFTEN)
            self._never += _is_never(after) - _is_never(before)

    def forget_from(self, step: int) -> None:
        """Drop what came at `step` or later."""
        kept = [row for row in self._rows if row[0] < step]
        self._rows, self._counted, self._often, self._never = [], {}, 0, 0
        for past, prompt, right, judged in kept:
            self.add(past, [(prompt, right, judged)])

    def never_solved_share(self) -> float | None:
        """Share of the often tried prompts that were never solved; None with fewer than 8 of them."""
        return self._never / self._often if self._often >= FEWEST_PROMPTS else None

    def repeated(self) -> list[tuple[Float64Array, Float64Array]]:
        """(steps, shares right) of each prompt that came at more than one step."""
        rows: dict[str, list[tuple[int, float]]] = {}
        for step, prompt, right, judged in self._rows:
            rows.setdefault(prompt, []).append((step, right / judged))
        tables = (np.array(found, dtype=np.float64) for found in rows.values() if found[0][0] != found[-1][0])
        return [(table[:, 0], table[:, 1]) for table in tables]

    def records(self) -> tuple[PromptRecord, ...]:
        """All prompts, the most learnable first."""
        found = [PromptRecord(prompt, *counts) for prompt, counts in self._counted.items()]
        return tuple(sorted(found, key=lambda record: (-record.learnability, record.prompt)))

    def never_solved(self, fewest: int = FEWEST) -> tuple[PromptRecord, ...]:
        """Prompts that were tried at least `fewest` times and never answered rightly, the most tried first."""
        found = (record for record in self.records() if record.judged >= fewest and record.right == 0)
        return tuple(sorted(found, key=lambda record: -record.judged))

    def always_solved(self, fewest: int = FEWEST) -> tuple[PromptRecord, ...]:
        """Prompts that were tried at least `fewest` times and always answered rightly, the most tried first."""
        found = (record for record in self.records() if record.judged >= fewest and record.right == record.judged)
        return tuple(sorted(found, key=lambda record: -record.judged))


def _is_never(counts: tuple[int, int, int]) -> bool:
    return counts[1] >= OFTEN and counts[0] == 0
