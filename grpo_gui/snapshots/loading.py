"""Load the policy of a snapshot, after every hash was checked; model folders that are no snapshots load as they are."""

from pathlib import Path

import torch

from grpo_gui.errors import SnapshotError
from grpo_gui.language.loading import BUILTIN, load_policy
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.language.weights import pickle_sentence
from grpo_gui.snapshots.manifest import MANIFEST
from grpo_gui.snapshots.verifying import verify

_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


def load_snapshot(folder: Path, device: torch.device | str) -> LanguagePolicy:
    """The policy of a snapshot in float32 on `device`.

    Raises:
        SnapshotError: a file is missing, truncated or edited.
        ModelError: the files are whole but no model that can be used.
    """
    verify(folder, with_training_state=False)
    return load_policy(str(folder), device)


def load_checked(model: str, device: torch.device | str) -> LanguagePolicy:
    """The policy of a snapshot, of a plain model folder, or the built-in one.

    Raises:
        SnapshotError: a damaged snapshot, or a single file where a folder is needed.
        ModelError: no model that can be used.
    """
    path = Path(model)
    if model != BUILTIN and path.is_file():
        raise SnapshotError(_of_file(path))
    return load_snapshot(path, device) if (path / MANIFEST).is_file() else load_policy(model, device)


def _of_file(path: Path) -> str:
    if path.suffix in _PICKLES:
        return pickle_sentence(f"{path} is a pickle", path.parent)
    return f"{path} is a file; a snapshot is a folder with model.safetensors, config.json and tokenizer.json."
