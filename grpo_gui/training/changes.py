"""Hyperparameters that change while a run is training."""

from dataclasses import fields, replace
from typing import Any, NamedTuple

from grpo_gui.commands import SetHyperparameters
from grpo_gui.errors import BadInputError
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.validation import problems


class Changed(NamedTuple):
    """One value that is different now."""

    name: str
    old: float | None
    new: float | None


def changed_config(config: TrainConfig, command: SetHyperparameters) -> tuple[TrainConfig, list[Changed]]:
    """Return the config with the wanted values, and what is different in it.

    `learning_rate` is the peak that the schedule scales, as in the run's config.

    Raises:
        BadInputError: the values cannot be used; nothing is changed then.
    """
    wanted = {field.name: getattr(command, field.name) for field in fields(command) if hasattr(config, field.name)}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if command.resets_epsilon_high:
        wanted["epsilon_high"] = None
    changed = [
        Changed(name, getattr(config, name), value) for name, value in wanted.items() if value != getattr(config, name)
    ]
    values: dict[str, Any] = {change.name: change.new for change in changed}
    new_config = replace(config, **values)
    new_problems = {field: text for field, text in problems(new_config).items() if field not in problems(config)}
    for sentence in new_problems.values():
        raise BadInputError(sentence)
    return new_config, changed
