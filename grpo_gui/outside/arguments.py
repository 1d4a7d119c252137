"""The arguments of a TRL run, as JSON gives them: which of them say something, and which must not be kept."""

from collections.abc import Mapping

from grpo_gui.outside.pieces import RunInfo, number, whole

_PRIVATE = ("token", "key", "secret", "password")


def take_arguments(info: RunInfo, arguments: Mapping[str, object]) -> None:
    """Add the arguments of transformers' Trainer to what is known of a run; nothing that looks like a secret."""
    for name, value in arguments.items():
        is_plain = isinstance(value, str | int | float | bool) or value is None or isinstance(value, list)
        if is_plain and not any(name.lower().endswith(word) for word in _PRIVATE):
            info.config[str(name)] = value
    steps = whole(arguments.get("max_steps"))
    info.max_steps = steps or info.max_steps
    every = number(arguments.get("logging_steps"))
    if every is not None and every >= 1 and whole(every) is not None:
        info.logging_steps = int(every)
