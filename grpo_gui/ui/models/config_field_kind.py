"""What the form knows about one setting of a run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field of TrainConfig: `kind` is whole, number, optional, choice, switch or text; `group` "" is the form's."""

    name: str
    label: str
    kind: str
    group: str
    tooltip: str
    hint: str = ""
    choices: tuple[str, ...] = ()
