"""Ask a snapshot: answers to a prompt, or to held-out prompts for a comparison. torch is imported on use."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grpo_gui.errors import BadInputError
from grpo_gui.snapshots.judging import Answer, Comparison, Pair
from grpo_gui.tasks.making import make_task
from grpo_gui.training.config import TrainConfig

if TYPE_CHECKING:
    from grpo_gui.language.policy import Policy
    from grpo_gui.tasks.problem import Problem
    from grpo_gui.training.rollout import Read
    from grpo_gui.training.scoring import Scorer

BATCH = 32  # prompts sampled at once; the random numbers depend on it, so both snapshots use the same

Stop = Callable[[], bool]
Progress = Callable[[int, int], None]  # prompts answered, of how many


class Cancelled(Exception):  # noqa: N818 - not an error: the user ended it
    """A comparison was cancelled by its user."""


class Playground:
    """Keeps the policy that was asked last, so that asking again is quick. Used in one thread, off the GUI thread."""

    def __init__(self, threads: Callable[[], int] = lambda: 1) -> None:
        """Compute with as many threads as `threads` says: those of a run that trains in this process."""
        self._threads = threads
        self._loaded: tuple[str, str, Policy] | None = None

    def ask(
        self,
        model: str,
        prompt: str,
        *,
        temperature: float = 1.0,
        max_new_tokens: int = 64,
        count: int = 1,
        seed: int = 0,
        device: str = "auto",
    ) -> list[Answer]:
        """Sample completions of one prompt; the same seed gives the same ones. Temperature 0 is greedy.

        Raises:
            SnapshotError: the snapshot is damaged.
            ModelError: it cannot be loaded, or the prompt is empty or too long.
            BadInputError: an option is out of its range.
        """
        if temperature < 0 or max_new_tokens < 1 or count < 1:
            raise BadInputError("Temperature must be 0 or more, and the numbers of tokens and of samples at least 1.")
        config = TrainConfig(temperature=temperature, max_completion_length=max_new_tokens)
        return _answers(_sample(self._policy(model, device), [prompt], count, config, seed))

    def compare(
        self,
        first: str,
        second: str,
        config: TrainConfig,
        *,
        prompts: int,
        seed: int,
        progress: Progress,
        cancelled: Stop,
    ) -> Comparison:
        """Let two models answer the held-out prompts of a run's task with the same random numbers, and score them.

        Args:
            first: a snapshot's or model's folder, or "builtin".
            second: likewise.
            config: of the run: its task, its rewards, its temperature and longest completion.
            prompts: at most so many; a task may hold out fewer.
            seed: of the random numbers.
            progress: called after every batch, in this thread.
            cancelled: asked before every batch.

        Raises:
            Cancelled: `cancelled` said so.
            BadInputError: the task has no held-out prompts.
            SnapshotError: a snapshot is damaged.
            ModelError: one cannot be loaded, or a prompt does not fit.
            TrainingError: a reward source returned something unusable.
        """
        problems = _held_out(config, prompts)
        from grpo_gui.training.scoring import Scorer

        total, done, answers = 2 * len(problems), 0, []
        with closing(Scorer(config.rewards)) as scorer:
            for model in (first, second):
                policy, given = self._policy(model, config.device), []
                for start in range(0, len(problems), BATCH):
                    if cancelled():
                        raise Cancelled
                    batch = problems[start : start + BATCH]
                    given += _scored(policy, scorer, batch, config, seed + start)
                    done += len(batch)
                    progress(done, total)
                answers.append(given)
        pairs = zip(problems, *answers, strict=True)
        return Comparison(tuple(Pair(problem.prompt, one, other) for problem, one, other in pairs), seed)

    def forget(self) -> None:
        """Let go of the loaded policy."""
        self._loaded = None

    def _policy(self, model: str, device: str) -> "Policy":
        import torch

        from grpo_gui.snapshots.loading import load_checked
        from grpo_gui.training.devices import choose_device

        torch.set_num_threads(self._threads())
        if self._loaded is None or self._loaded[:2] != (model, device):
            self._loaded = None  # its memory first
            self._loaded = (model, device, load_checked(model, choose_device(device)))
        return self._loaded[2]


def _scored(
    policy: "Policy", scorer: "Scorer", problems: "list[Problem]", config: TrainConfig, seed: int
) -> list[Answer]:
    read = _sample(policy, [problem.prompt for problem in problems], 1, config, seed)
    totals = scorer.total(scorer.score(problems, read.texts, read.completion_ids)).tolist()
    known = (None if value != value else value for value in totals)  # NaN: no opinion
    return [replace(answer, reward=value) for answer, value in zip(_answers(read), known, strict=True)]


def _sample(policy: "Policy", prompts: list[str], count: int, config: TrainConfig, seed: int) -> "Read":
    import torch

    from grpo_gui.language.sampling import SamplingConfig
    from grpo_gui.training.rollout import read_completions

    sampling = SamplingConfig(config.temperature, config.top_k, config.top_p, config.max_completion_length)
    generator = torch.Generator(policy.device).manual_seed(seed)
    ids = [policy.tokenizer.encode_prompt(prompt) for prompt in prompts]
    sampled = policy.sample(ids, count, sampling, generator)
    return read_completions(sampled.ids, sampled.lengths, sampled.truncated, policy.tokenizer)


def _answers(read: "Read") -> list[Answer]:
    rows = zip(read.texts, read.completion_ids, read.truncated, strict=True)
    return [Answer(text, len(ids), cut) for text, ids, cut in rows]


def completion_length(model: str) -> int:
    """The longest completion that a snapshot's run sampled; 64 for a model without a run."""
    from grpo_gui.snapshots.manifest import MANIFEST, read_manifest

    folder = Path(model)
    if not (folder / MANIFEST).is_file():
        return 64
    return int(read_manifest(folder).config.get("max_completion_length", 64))


def _held_out(config: TrainConfig, count: int) -> "list[Problem]":
    task = make_task(
        config.task,
        mix=config.task_mix,
        prompt_file=config.prompt_file,
        min_size=config.min_size,
        max_size=config.max_size,
    )
    problems = task.held_out(count)
    if not problems:
        raise BadInputError(f"The task {task.name} has no held-out prompts, so there is nothing to compare on.")
    return problems
