"""Check a run's config once at the edge, and turn it into JSON and back."""

import json
import logging
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields, replace
from typing import Any

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.rating_rules import rating_advice
from grpo_gui.training.rules import CHECKS

logger = logging.getLogger(__name__)


def problems(config: TrainConfig) -> dict[str, str]:
    """Return a sentence for each field that cannot be used, in the order of the form; empty when all is well."""
    found = {}
    for field, check in CHECKS.items():
        sentence = check(config)
        if sentence is not None:
            found[field] = sentence
    return found


def validate(config: TrainConfig) -> None:
    """Accept a config that a run can use.

    Raises:
        BadInputError: with the sentence for the first field that cannot be used, named by its field.
    """
    for field, sentence in problems(config).items():
        raise BadInputError(f"{field}: {sentence}")


def advice(config: TrainConfig) -> dict[str, str]:
    """Return a sentence for each field that can be used but has a consequence worth knowing."""
    found = {}
    if config.top_k or config.top_p < 1:
        found["top_k" if config.top_k else "top_p"] = (
            "Completions are sampled from a cut distribution but scored under the whole one, "
            "so ratios and KL are biased; top_k 0 and top_p 1 avoid it."
        )
    if config.num_iterations == 1:
        found["num_iterations"] = (
            "With one inner update per rollout the ratio is 1, so nothing is ever clipped: the clip curves stay at 0."
        )
    sentence = rating_advice(config)
    if sentence is not None:
        found["rating_mode"] = sentence
    return found


def config_to_json(config: TrainConfig) -> str:
    """Return the config as JSON text that `config_from_json` reads back to an equal config."""
    return json.dumps(asdict(config), allow_nan=False)


def config_from_json(text: str) -> TrainConfig:
    """Read a config; a missing field gets its default, an unknown one (of another version) is left out.

    Raises:
        BadInputError: the text is no JSON object, a field holds the wrong type, or another program made the run.
    """
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInputError(f"The run's config is not JSON ({error}); start a new run instead.") from error
    if not isinstance(values, dict):
        raise BadInputError("The run's config must be a JSON object with one entry per setting.")
    if "program" in values:
        raise BadInputError(
            f"This run was made elsewhere ({values['program']}); its settings are not ours. Start a new run instead."
        )
    unknown = values.keys() - _READERS.keys()
    if unknown:
        logger.warning("Left out settings that this version does not know: %s.", ", ".join(sorted(unknown)))
    return TrainConfig(**{name: _read(name, value) for name, value in values.items() if name not in unknown})


def settings_for_reading(text: str) -> TrainConfig:
    """What the config of any run, also of another program's, tells under our names; defaults for all else.

    For showing samples only: nothing may be trained with it.
    """
    try:
        values = json.loads(text)
    except json.JSONDecodeError:
        return TrainConfig()
    known = {}
    for name, value in values.items() if isinstance(values, dict) else ():
        if name in _READERS:
            with suppress(BadInputError):  # another program means something else by it
                known[name] = _read(name, value)
    return TrainConfig(**known)


def parse_override(config: TrainConfig, text: str) -> TrainConfig:
    """Return the config with one `field=value` changed, as given to `--set`; not yet validated.

    Numbers, true/false and none are written as such. `task_mix` is `compare:2,add:1`; `rewards` is
    `exact:1,length:0.5` (kind and weight), or a JSON list when a reward needs an argument.

    Raises:
        BadInputError: no such field, or a value of the wrong type.
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals:
        raise BadInputError(f"{text!r} must have the form field=value, for example learning_rate=1e-4.")
    if name not in _READERS:
        raise BadInputError(f"There is no setting {name!r}; the settings are {', '.join(_READERS)}.")
    return replace(config, **{name: _read(name, _typed(name, value.strip()))})


def _typed(name: str, value: str) -> object:
    """Turn the text behind `--set field=` into the value that JSON would hold."""
    if isinstance(getattr(TrainConfig(), name), str):
        return value
    if name in ("task_mix", "rewards") and not value.startswith("["):
        pairs = [part.strip().partition(":") for part in value.split(",") if part.strip()]
        weights = [(key, _number_of(name, weight or "1")) for key, _, weight in pairs]
        if name == "task_mix":
            return [list(pair) for pair in weights]
        return [{"name": key, "kind": key, "weight": weight} for key, weight in weights]
    if value.lower() in ("none", ""):
        return None
    try:
        return json.loads(value.lower() if value.lower() in ("true", "false") else value)
    except json.JSONDecodeError as error:
        if value.startswith("["):
            raise BadInputError(f"{name}: {value!r} is no JSON list ({error}).") from error
        return value  # its reader says what it needs instead


def _number_of(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInputError(f"{name}: {text!r} must be a number.") from error


def _read(name: str, value: object) -> Any:  # noqa: ANN401 - the type of the field `name`
    try:
        return _READERS[name](value)
    except (TypeError, ValueError, KeyError) as error:
        raise BadInputError(f"{name}: {value!r} is not a value for this setting; {error}.") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is needed")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false is needed")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value != int(value):
        raise TypeError("a whole number is needed")
    return int(value)


def _real(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a number is needed")
    return float(value)


def _optional_real(value: object) -> float | None:
    return None if value is None else _real(value)


def _mix(value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, list | tuple):
        raise TypeError("a list of tasks with weights is needed")
    return tuple((_text(task), _real(weight)) for task, weight in value)


def _rewards(value: object) -> tuple[RewardSpec, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        raise TypeError("a list of rewards is needed")
    return tuple(
        RewardSpec(
            name=_text(item.get("name", item["kind"])),
            kind=_text(item["kind"]),
            weight=_real(item.get("weight", 1.0)),
            argument=_text(item.get("argument", "")),
        )
        for item in value
    )


def _reader_of(name: str, default: object) -> Callable[[object], Any]:
    if name in ("task_mix", "rewards"):
        return _mix if name == "task_mix" else _rewards
    match default:
        case bool():
            return _flag
        case int():
            return _whole
        case float():
            return _real
        case None:
            return _optional_real
        case _:
            return _text


_READERS: dict[str, Callable[[object], Any]] = {
    field.name: _reader_of(field.name, field.default) for field in fields(TrainConfig)
}
