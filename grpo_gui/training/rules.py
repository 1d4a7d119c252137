"""What a run's config may hold: one check per field, each answering with a sentence or None."""

import math
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from grpo_gui.errors import BadInputError, ModelError
from grpo_gui.language.model_folder import find_model
from grpo_gui.tasks.gym_task import MISSING, REASONING_GYM
from grpo_gui.tasks.making import TASK_NAMES, make_task
from grpo_gui.tasks.rewards import REWARDS
from grpo_gui.training import rating_rules
from grpo_gui.training.config import RewardSpec, TrainConfig

Check = Callable[[TrainConfig], str | None]

LOSS_TYPES = ("grpo", "bnpo", "dapo", "dr_grpo", "cispo")
IMPORTANCE_SAMPLING_LEVELS = ("token", "sequence")
SCALE_REWARDS = ("group", "batch", "none")
AGGREGATIONS = ("sum_then_normalize", "normalize_then_sum")
ADVANTAGE_STDS = ("sample", "population")
LARGEST_SEED = 2**63 - 1  # what SQLite keeps
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def _whole(name: str, label: str, least: int, most: int, why: str = "") -> Check:
    def check(config: TrainConfig) -> str | None:
        value: int = getattr(config, name)
        if least <= value <= most:
            return None
        return f"{label} must be a whole number from {least} to {most}{why}; it is {value}."

    return check


def _number(name: str, label: str, least: float, most: float, *, above: bool = False, why: str = "") -> Check:
    def check(config: TrainConfig) -> str | None:
        value: float = getattr(config, name)
        if math.isfinite(value) and (least < value if above else least <= value) and value <= most:
            return None
        span = f"above {least:g} and at most {most:g}" if above else f"from {least:g} to {most:g}"
        return f"{label} must be {span}{why}; it is {value:g}."

    return check


def _choice(name: str, label: str, choices: tuple[str, ...]) -> Check:
    def check(config: TrainConfig) -> str | None:
        value: str = getattr(config, name)
        return None if value in choices else f"{label} must be one of {', '.join(choices)}; it is {value!r}."

    return check


def _task_mix(config: TrainConfig) -> str | None:
    if config.task != "mix":
        return None
    try:
        make_task("mix", mix=config.task_mix)
    except BadInputError as error:
        return str(error)
    return None


def _prompt_file(config: TrainConfig) -> str | None:
    if config.task != "file":
        return None
    if not config.prompt_file:
        return "The task 'file' needs a data file (JSONL, CSV, JSON or Parquet with a column 'prompt'); choose one."
    if config.prompt_file.startswith(REASONING_GYM):
        return None if find_spec("reasoning_gym") is not None else MISSING
    if not _is(Path.is_file, Path(config.prompt_file)):
        return f"There is no file {config.prompt_file}; choose a data file with a column 'prompt'."
    return None


def _sizes(config: TrainConfig) -> str | None:
    if config.min_size < 0 or config.max_size < 0:
        return "The sizes of a problem must be 0 (the task's own range) or more."
    if config.task in ("mix", "file") or config.task not in TASK_NAMES:
        return (
            "Sizes belong to a single built-in task; leave them at 0." if config.min_size or config.max_size else None
        )
    try:
        make_task(config.task, min_size=config.min_size, max_size=config.max_size)
    except BadInputError as error:
        return str(error)
    return None


def _rewards(config: TrainConfig) -> str | None:
    if not config.rewards:
        return "A run needs at least one reward; add one, for example exact."
    names = [spec.name for spec in config.rewards]
    for name in names:
        if names.count(name) > 1:
            return f"Two rewards are named {name!r}; give each its own name."
    for spec in config.rewards:
        sentence = _reward(spec)
        if sentence:
            return sentence
    if all(spec.weight == 0 for spec in config.rewards):
        return "Every reward has the weight 0, so nothing would be learned; give one a weight."
    return rating_rules.check_human_reward(config)


def _reward(spec: RewardSpec) -> str | None:
    if not spec.name.strip() or "/" in spec.name:
        return f"A reward's name must not be empty nor hold a slash; it is {spec.name!r}."
    if not math.isfinite(spec.weight):
        return f"The weight of the reward {spec.name!r} must be a finite number; it is {spec.weight}."
    if spec.kind not in REWARDS:
        return f"There is no reward {spec.kind!r}; choose one of {', '.join(REWARDS)}."
    sentence = REWARDS[spec.kind].check(spec.argument)
    return None if sentence is None else f"The reward {spec.name!r}: {sentence}"


def _aggregation(config: TrainConfig) -> str | None:
    check = _choice("multi_objective_aggregation", "The way to blend several rewards", AGGREGATIONS)
    return check(config) or rating_rules.check_human_blend(config)


def _model(config: TrainConfig) -> str | None:
    if config.model == "builtin":
        return None
    try:
        find_model(Path(config.model))
    except ModelError as error:
        return str(error)
    except OSError as error:  # a folder that may not be read
        return f"The model {config.model!r} cannot be read ({error}); choose a folder with a model, or 'builtin'."
    return None


def _lora_rank(config: TrainConfig) -> str | None:
    if not 0 <= config.lora_rank <= 1024:
        return f"The rank of the LoRA adapter must be from 0 (train all weights) to 1024; it is {config.lora_rank}."
    if config.lora_rank and config.model == "builtin":
        return "The built-in model is small and trained whole; set lora_rank to 0, or choose a model of your own."
    return None


def _micro_batch(config: TrainConfig) -> str | None:
    size, prompts = config.micro_batch_prompts, config.prompts_per_step
    if size == 0 or (0 < size <= prompts and prompts % size == 0):
        return None
    divisors = [str(number) for number in range(1, max(prompts, 0) + 1) if prompts % number == 0]
    return (
        f"The {prompts} prompts of a step cannot be split into micro-batches of {size}; "
        f"use 0 (all at once) or a divisor: {', '.join(divisors)}."
    )


def _epsilon_high(config: TrainConfig) -> str | None:
    value = config.epsilon_high
    if value is None:
        if config.loss_type == "cispo":
            return "The loss cispo caps the ratio at epsilon_high itself; set it, usually to 5."
        return None
    if math.isfinite(value) and 0 < value <= 100:
        return None
    return f"The upper clip range (epsilon_high) must be above 0 and at most 100, or empty; it is {value:g}."


def _delta(config: TrainConfig) -> str | None:
    if config.delta is None:
        return None
    if config.loss_type == "cispo":
        return "The loss cispo has no two-sided clip; leave delta empty."
    upper = config.epsilon if config.epsilon_high is None else config.epsilon_high
    if math.isfinite(config.delta) and config.delta > 1 + upper:
        return None
    return (
        f"delta caps the ratio itself and must be above 1 + the upper clip range, {1 + upper:g}, or empty; "
        f"it is {config.delta:g}."
    )


def _device(config: TrainConfig) -> str | None:
    if _DEVICE.fullmatch(config.device):
        return None
    return f"The device must be auto, cpu, mps, cuda or cuda:N (cuda:0 is the first); it is {config.device!r}."


def _bf16(config: TrainConfig) -> str | None:
    if config.bf16 and config.device in ("cpu", "mps"):
        return f"bf16 works on cuda only and the device is {config.device}; turn it off."
    return None


def _save_best(config: TrainConfig) -> str | None:
    if config.save_best and not config.eval_steps:
        return "The best snapshot is chosen by held-out reward, which is never measured; set eval_steps above 0."
    return None


CHECKS: dict[str, Check] = {
    "task": _choice("task", "The task", TASK_NAMES),
    "task_mix": _task_mix,
    "prompt_file": _prompt_file,
    "min_size": _sizes,
    "rewards": _rewards,
    "model": _model,
    "lora_rank": _lora_rank,
    "steps": _whole("steps", "The number of steps", 1, 10_000_000),
    "prompts_per_step": _whole("prompts_per_step", "The number of prompts in a step", 1, 65536),
    "num_generations": _whole(
        "num_generations",
        "The number of completions in a group (num_generations)",
        2,
        4096,
        ", because a completion is judged against the others of its group",
    ),
    "num_iterations": _whole("num_iterations", "The number of inner updates (num_iterations)", 1, 1000),
    "micro_batch_prompts": _micro_batch,
    "max_completion_length": _whole("max_completion_length", "The longest completion, in tokens,", 1, 1_000_000),
    "learning_rate": _number("learning_rate", "The learning rate", 0.0, 1.0, above=True),
    "warmup_steps": _whole("warmup_steps", "The warm-up, in steps,", 0, 1_000_000),
    "min_lr_ratio": _number("min_lr_ratio", "The share of the learning rate at the end", 0.0, 1.0),
    "max_grad_norm": _number("max_grad_norm", "The largest gradient norm (0: no clipping)", 0.0, 1e9),
    "weight_decay": _number("weight_decay", "The weight decay", 0.0, 10.0),
    "loss_type": _choice("loss_type", "The loss type", LOSS_TYPES),
    "importance_sampling_level": _choice(
        "importance_sampling_level", "The importance sampling level", IMPORTANCE_SAMPLING_LEVELS
    ),
    "epsilon": _number("epsilon", "The clip range epsilon", 0.0, 1.0, above=True),
    "epsilon_high": _epsilon_high,
    "delta": _delta,
    "beta": _number("beta", "The weight beta of the KL term", 0.0, 100.0),
    "scale_rewards": _choice("scale_rewards", "The scaling of rewards", SCALE_REWARDS),
    "multi_objective_aggregation": _aggregation,
    "advantage_std": _choice("advantage_std", "The standard deviation of a group", ADVANTAGE_STDS),
    "advantage_eps": _number("advantage_eps", "The number added to a group's standard deviation", 0.0, 1.0, above=True),
    "temperature": _number("temperature", "The sampling temperature", 0.0, 10.0, above=True),
    "top_k": _whole("top_k", "The number of likeliest tokens to sample from (top_k, 0: all)", 0, 10_000_000),
    "top_p": _number("top_p", "The probability mass to sample from (top_p)", 0.0, 1.0, above=True),
    "rating_mode": rating_rules.check_rating_mode,
    "rating_quorum": rating_rules.check_rating_quorum,
    "rating_max_age": rating_rules.check_rating_max_age,
    "rating_late_share": rating_rules.check_late_share,
    "eval_steps": _whole("eval_steps", "The steps between held-out evaluations (0: never)", 0, 10_000_000),
    "eval_prompts": _whole("eval_prompts", "The number of held-out prompts", 1, 100_000),
    "save_steps": _whole("save_steps", "The steps between snapshots (0: never)", 0, 10_000_000),
    "save_best": _save_best,
    "save_total_limit": _whole("save_total_limit", "The number of newest snapshots to keep (0: all)", 0, 100_000),
    "seed": _whole("seed", "The seed", 0, LARGEST_SEED),
    "device": _device,
    "threads": _whole("threads", "The number of processor threads", 1, 1024),
    "bf16": _bf16,
}


def _is(kind: Callable[[Path], bool], path: Path) -> bool:
    """Whether a path is a file or a folder; a name that no file can have is neither."""
    try:
        return kind(path)
    except OSError:  # too long, for example
        return False
