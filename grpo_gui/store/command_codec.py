"""Commands as JSON, for the table through which they reach a run in another process."""

import dataclasses
import json

from grpo_gui.commands import (
    Command,
    ContinueWithout,
    HandOver,
    Pause,
    Resume,
    SaveSnapshot,
    SetHyperparameters,
    SetRatingMode,
    SetRatingShrink,
    Step,
    Stop,
)
from grpo_gui.errors import StoreError

_KINDS: dict[str, type[Command]] = {
    kind.__name__: kind
    for kind in (
        Pause,
        Resume,
        Step,
        Stop,
        HandOver,
        SaveSnapshot,
        SetHyperparameters,
        SetRatingMode,
        SetRatingShrink,
        ContinueWithout,
    )
}


def command_to_json(command: Command) -> str:
    """The command as a JSON object with its kind and its fields."""
    return json.dumps({"kind": type(command).__name__, **dataclasses.asdict(command)})


def command_from_json(text: str) -> Command:
    """The inverse of `command_to_json`.

    Raises:
        StoreError: this version does not know the command.
    """
    fields = json.loads(text)
    kind = _KINDS.get(fields.pop("kind", ""))
    if kind is None:
        raise StoreError("Another version of grpo-gui sent a command that this version does not know. Update both.")
    return kind(**fields)
