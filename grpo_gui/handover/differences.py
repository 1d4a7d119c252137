"""What TRL cannot do of a run's config, or does in another way: sentences that are shown before the start."""

from collections.abc import Iterator

from grpo_gui.handover.options import MAX_ROWS
from grpo_gui.training.config import TrainConfig

TRL_EPS = 1e-4


def differences(config: TrainConfig) -> list[str]:
    """The sentences, the weightiest first."""
    return [*_advantages(config), *_ratings(config), *_steps(config), *_held_out(config), *_data(config), *_steering()]


def _advantages(config: TrainConfig) -> Iterator[str]:
    if config.advantage_std != "sample":
        yield "Advantages are divided by the sample standard deviation: TRL has no population one (advantage_std)."
    if config.advantage_eps != TRL_EPS:
        yield f"TRL adds 1e-4 to the standard deviation, not {config.advantage_eps:g} (advantage_eps)."


def _ratings(config: TrainConfig) -> Iterator[str]:
    if not any(spec.kind == "human" for spec in config.rewards):
        return
    if config.rating_mode == "wait":
        yield "TRL waits until each completion of a step is rated or passed over (rating_quorum has no effect)."
    else:
        yield "A completion that is not rated when its step is scored stays so: TRL does not learn from late ratings."


def _steps(config: TrainConfig) -> Iterator[str]:
    if config.num_iterations > 1:
        total = config.steps * config.num_iterations
        yield (
            f"TRL counts optimizer steps: {config.steps} steps with {config.num_iterations} inner updates each are its "
            f"{total}, and the learning rate moves at each of them."
        )
    if config.save_best:
        yield "No snapshot is made at a new best held-out reward (save_best)."


def _held_out(config: TrainConfig) -> Iterator[str]:
    if config.eval_steps:
        sampled = "" if config.temperature == 1 else f", sampled at temperature {config.temperature:g}"
        yield f"On held-out prompts TRL measures the reward{sampled}, not how many answers are right."


def _data(config: TrainConfig) -> Iterator[str]:
    if config.steps * config.prompts_per_step > MAX_ROWS:
        yield f"{MAX_ROWS} problems are drawn before the start, and TRL goes through them again and again."
    if config.task == "file":
        yield "Prompts that are too long for the model are not cut."


def _steering() -> Iterator[str]:
    yield (
        "While TRL trains, the run can be paused, stopped, rated and saved; its settings cannot be changed, and it "
        "does no single steps."
    )
    yield "When it has ended it is not resumed from here; its checkpoints stay in the run's folder."
