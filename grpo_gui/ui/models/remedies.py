"""What the window can do about a finding with one button: change a running trainer, or fill in the form."""

from dataclasses import dataclass, replace
from typing import Any

from grpo_gui.commands import SetHyperparameters
from grpo_gui.diagnose.finding import Finding
from grpo_gui.diagnose.text import number
from grpo_gui.tasks.generated import KINDS
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import problems
from grpo_gui.ui.formatting import count
from grpo_gui.ui.models.hyperparameters import HYPERPARAMETERS

_FACTORS = {"prompts_per_step": 2, "max_completion_length": 2}  # where a finding names no value
_LEAST_BETA = 0.04  # TRL's old default, twice ours
_FORM_WORDS = {
    "prompts_per_step": "prompts a step",
    "num_generations": "answers for each prompt",
    "max_completion_length": "tokens an answer",
}
_FORM_HINT = "Fills in the form with the settings of this run and this one changed."
_LARGER_BY = 2  # digits or characters that a task grows by


@dataclass(frozen=True, slots=True)
class Live:
    """A change that a listening trainer takes from its next step on."""

    label: str
    hint: str
    command: SetHyperparameters


@dataclass(frozen=True, slots=True)
class NewRun:
    """Settings for another run, or for a branch where there is a snapshot to begin from."""

    label: str
    hint: str
    config: TrainConfig


@dataclass(frozen=True, slots=True)
class DropPrompts:
    """Write the data file anew without the prompts that teach nothing, then fill in the form with it."""

    label: str
    hint: str
    config: TrainConfig
    always_solved: bool  # else the never-solved ones are left out


Remedy = Live | NewRun | DropPrompts


def remedies_for(
    finding: Finding, config: TrainConfig, values: dict[str, float | None], next_step: int, *, can_change: bool
) -> tuple[Remedy, ...]:
    """What buttons can do about a finding, the one to choose first; empty where only a person can do something.

    Args:
        finding: an open one.
        config: of the run.
        values: the hyperparameters in force, see `current_values`.
        next_step: the step from which on a change would hold.
        can_change: whether a trainer of this run listens.
    """
    setting = finding.action.setting
    found: list[Remedy | None] = []
    if setting in ("prompt_file", "max_size"):
        found.append(_other_prompts(config, setting))
    value = finding.action.value if finding.action.value is not None else _derived(setting, config, values)
    is_set = values.get(setting) == value
    if value is not None and setting in HYPERPARAMETERS and (not is_set or goes_back(finding)):
        if can_change and not is_set:
            found.append(_live(setting, value, config, next_step))
        words = f"{_label(setting)} {number(value)}"
        found.append(_checked(f"New run with {words}", _FORM_HINT, config, {setting: value}))
    elif value is not None and setting in _FORM_WORDS:
        label = f"New run with {count(round(value))} {_FORM_WORDS[setting]}"
        found.append(_checked(label, _FORM_HINT, config, {setting: round(value)}))
    return tuple(one for one in found if one is not None)


def goes_back(finding: Finding) -> bool:
    """Whether the proposal is to leave what came since it began, so that a change of the running trainer is less."""
    return finding.action.sentence.startswith("Go back")


def _live(setting: str, value: float, config: TrainConfig, next_step: int) -> Remedy | None:
    if HYPERPARAMETERS[setting].problem(config, value) is not None:
        return None
    change: dict[str, Any] = {setting: value}
    hint = f"Holds from step {count(next_step)} on, is marked on the axis, and can be changed back in the run panel."
    return Live(f"{_label(setting).capitalize()} {number(value)} now", hint, SetHyperparameters(**change))


def _label(setting: str) -> str:
    return {"beta": "beta", "epsilon_high": "epsilon_high"}.get(setting, HYPERPARAMETERS[setting].label.lower())


def _other_prompts(config: TrainConfig, setting: str) -> Remedy | None:
    if config.task == "file":
        return _without_prompts(config, always_solved=setting == "max_size")
    return _larger_task(config) if setting == "max_size" else None


def _derived(setting: str, config: TrainConfig, values: dict[str, float | None]) -> float | None:
    if setting in _FACTORS:
        return float(_FACTORS[setting] * getattr(config, setting))
    if setting == "beta":
        return max(2 * (values.get("beta") or 0.0), _LEAST_BETA)
    if setting == "learning_rate":
        return float(f"{(values.get('learning_rate') or config.learning_rate) / 3:.1g}")
    return None


def _larger_task(config: TrainConfig) -> Remedy | None:
    kind = KINDS.get(config.task)
    if kind is None:
        return None
    largest = config.max_size or kind.sizes[1]
    smallest, larger = min(largest, kind.limits[1]), min(largest + _LARGER_BY, kind.limits[1])
    if larger == largest:
        return None
    label = f"New run with {smallest} to {larger} {kind.size_label}"
    hint = "Fills in the form with the settings of this run and harder prompts."
    return _checked(label, hint, config, {"min_size": smallest, "max_size": larger})


def _without_prompts(config: TrainConfig, *, always_solved: bool) -> Remedy | None:
    if config.prompt_file.startswith("reasoning_gym:"):
        return None
    which = "always solved" if always_solved else "never solved"
    hint = f"Writes a copy of the data file without the prompts that were {which}, and fills in the form with it."
    return DropPrompts(f"New run without the {which} prompts\u2026", hint, config, always_solved)


def _checked(label: str, hint: str, config: TrainConfig, change: dict[str, Any]) -> Remedy | None:
    """A new run whose settings can be used, else None."""
    changed = replace(config, **change)
    return None if problems(changed) else NewRun(label, hint, changed)
