"""Load the policy of a snapshot, after every hash was checked; model folders that are no snapshots load as they are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from grpo_gui.errors import SnapshotError
from grpo_gui.language.hf_loading import ModelOptions, open_policy
from grpo_gui.language.hf_policy import HfPolicy
from grpo_gui.language.loading import BUILTIN
from grpo_gui.language.model_folder import PICKLES, pickle_sentence
from grpo_gui.language.policy import LanguagePolicy
from grpo_gui.snapshots.manifest import MANIFEST
from grpo_gui.snapshots.verifying import verify


def load_snapshot(folder: Path, device: torch.device | str) -> LanguagePolicy | HfPolicy:
    """The policy of a snapshot in float32 on `device`.

    Raises:
        SnapshotError: a file is missing, truncated or edited.
        ModelError: the files are whole but no model that can be used.
    """
    manifest = verify(folder, with_training_state=False)
    return open_policy(str(folder), device, _options(manifest.config))


def load_checked(model: str, device: torch.device | str) -> LanguagePolicy | HfPolicy:
    """The policy of a snapshot, of a plain model folder, or the built-in one.

    Raises:
        SnapshotError: a damaged snapshot, or a single file where a folder is needed.
        ModelError: no model that can be used.
    """
    path = Path(model)
    if model != BUILTIN and path.is_file() and path.suffix != ".gguf":
        raise SnapshotError(_of_file(path))
    return load_snapshot(path, device) if (path / MANIFEST).is_file() else open_policy(model, device, ModelOptions())


def _options(config: Mapping[str, Any]) -> ModelOptions:
    """How the snapshot's run used the model, the adapter aside: it is in the folder."""
    return ModelOptions(
        chat_template=bool(config.get("chat_template", True)), system_prompt=str(config.get("system_prompt", ""))
    )


def _of_file(path: Path) -> str:
    if path.suffix in PICKLES:
        return pickle_sentence(f"{path} is a pickle", path.parent)
    return f"{path} is a file; a snapshot is a folder with model.safetensors, config.json and tokenizer.json."
