"""The Python files whose functions a run's config uses as rewards."""

from collections.abc import Sequence
from pathlib import Path

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.reward_file import FunctionReference, confirmed_sha256, function_names, parse_reference
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.validation import config_from_json


def reward_files(rewards: Sequence[RewardSpec]) -> list[Path]:
    """Return the files, each once."""
    files = []
    for spec in rewards:
        if spec.kind == "python":
            try:
                files.append(parse_reference(spec.argument).path)
            except BadInputError:
                continue  # validation names it
    return list(dict.fromkeys(files))


def unconfirmed_files(rewards: Sequence[RewardSpec]) -> list[Path]:
    """Return the files that can be read and must be confirmed before they are run."""
    files = []
    for path in reward_files(rewards):
        if not path.is_file():
            continue  # validation names it
        try:
            confirmed_sha256(path)
        except BadInputError:
            files.append(path)
    return files


def changed_files(config: str) -> list[Path]:
    """Return the files of a run's config (JSON) that must be confirmed; none when the config is another program's."""
    try:
        return unconfirmed_files(config_from_json(config).rewards)
    except BadInputError:
        return []


def specs_of_file(path: Path, taken: Sequence[str] = ()) -> tuple[RewardSpec, ...]:
    """Return a reward source for each function of a file, with names that are not taken yet.

    Raises:
        BadInputError: the file holds no reward function.
    """
    specs = []
    for name in function_names(path):
        label = name if name not in taken else f"{path.stem}.{name}"
        specs.append(RewardSpec(label, "python", 1.0, str(FunctionReference(path.resolve(), name))))
    return tuple(specs)
