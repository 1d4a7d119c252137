"""What several runs answered to one prompt: distinct completions with their number and reward."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRecord
from grpo_gui.store.records_runs import SharedPrompt


@dataclass(frozen=True, slots=True)
class Answer:
    """A distinct completion of a group."""

    text: str
    times: int
    reward: float | None
    truncated: bool


@dataclass(frozen=True, slots=True)
class Answers:
    """The group of one run with the prompt."""

    run_id: int
    step: int
    size: int
    answers: tuple[Answer, ...]  # the most frequent first


def answers_of(group: GroupRecord) -> Answers:
    """The distinct completions of a group: the most frequent first, then those with more reward."""
    found: dict[tuple[str, float | None, bool], int] = {}
    for completion in group.completions:
        key = completion.text, completion.reward, completion.truncated
        found[key] = found.get(key, 0) + 1
    answers = [Answer(text, times, reward, cut) for (text, reward, cut), times in found.items()]
    answers.sort(key=lambda answer: (-answer.times, -_known(answer.reward), answer.text))
    return Answers(group.ref.run_id, group.ref.step, len(group.completions), tuple(answers))


def read_answers(reader: StoreReader, run_ids: Sequence[int], prompt: str, near_step: int) -> list[Answers]:
    """The answers of each run to a prompt in the group nearest to a step; runs without one are left out."""
    groups = [reader.group_of_prompt(run_id, prompt, near_step) for run_id in run_ids]
    return [answers_of(group) for group in groups if group is not None]


def nearest(prompts: Sequence[SharedPrompt], step: int) -> SharedPrompt | None:
    """The prompt of most runs whose steps lie nearest to a step."""
    return min(
        prompts,
        key=lambda one: (-len(one.steps), max(abs(place - step) for _, place in one.steps)),
        default=None,
    )


def _known(reward: float | None) -> float:
    return -math.inf if reward is None or math.isnan(reward) else reward
