"""The reward sources of a run as reward functions of TRL."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grpo_gui.handover.rows import PROBLEM, problem_of, text_of
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.scoring import Scorer

TrlReward = Callable[..., list[float | None]]
Completion = str | Sequence[Mapping[str, str]]


class RewardSource:
    """A source that TRL calls as one of its reward functions, and that scores as this program's trainer does.

    Any kind but human, which the bridge provides. TRL calls it by its `__name__`, which is the source's.
    """

    def __init__(self, spec: RewardSpec) -> None:
        self.__name__ = spec.name
        self._scorer = Scorer((spec,))

    def __call__(
        self,
        prompts: Sequence[Any],  # noqa: ARG002 - part of TRL's signature
        completions: Sequence[Completion],
        completion_ids: Sequence[Sequence[int]],
        **columns: Any,  # noqa: ANN401 - what the data set and TRL add
    ) -> list[float | None]:
        """Return one reward a completion, None for no opinion.

        Raises:
            TrainingError: the source failed.
        """
        problems = [problem_of(text) for text in columns[PROBLEM]]
        texts = [text_of(completion) for completion in completions]
        values = self._scorer.score(problems, texts, completion_ids)[:, 0].tolist()
        return [None if math.isnan(value) else value for value in values]

    def close(self) -> None:
        """End the process of a source that has one."""
        self._scorer.close()
