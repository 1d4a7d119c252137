"""A run in a real database, for views that read the store."""

from grpo_gui.events import GroupSample, RunStarted, RunStatus, TrainerStatus
from grpo_gui.store.records import NewRun
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import config_to_json
from tests.ui.fakes import completion, group, step_completed


def stored_run(writer, config: TrainConfig | None = None) -> int:
    """Create a run that has no step yet."""
    config = config or TrainConfig(num_generations=4)
    run_id = writer.create_run(NewRun("compare", "compare", config_to_json(config), 0, "cpu"))
    writer.emit(RunStarted(run_id, 0, "cpu", 1000, (("torch", "2.13.0"),)))
    writer.emit(TrainerStatus(run_id, RunStatus.RUNNING, 0))
    assert writer.flush(10)
    return run_id


def store_steps(writer, run_id: int, first: int, last: int, groups: int = 2) -> None:
    """Store the steps from `first` to `last`, each with groups of four."""
    for step in range(first, last + 1):
        sampled = tuple(group(index, prompt=f"Prompt {index} of step {step}?") for index in range(groups))
        writer.emit(step_completed(run_id, step, sampled))
    assert writer.flush(10)


def group_of(*texts: str, index: int = 0, task: str = "compare", prompt: str = "Which?") -> GroupSample:
    """A group whose completions have the given texts."""
    samples = tuple(completion(place, float(place % 2), place - 0.5, text) for place, text in enumerate(texts))
    return GroupSample(index, task, prompt, "9.9", (0, 3, 4), samples)
