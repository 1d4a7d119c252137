"""The training state on disk: safetensors and JSON in one folder, written whole or not at all, checked on reading."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from grpo_gui.errors import TrainingError

FORMAT = 1
KEPT = 2  # the newest state and the one before it
_WEIGHTS, _TENSORS, _VALUES = "model.safetensors", "training.safetensors", "state.json"
_NAME = re.compile(r"state-(\d{6,})")


@dataclass(frozen=True, slots=True)
class TrainingState:
    """Everything that a run needs to go on: `values` is plain JSON, `tensors` the optimizer and random state."""

    weights: Mapping[str, Tensor]
    tensors: Mapping[str, Tensor]
    values: dict[str, Any]


def save_state(folder: Path, state: TrainingState) -> Path:
    """Write a new state into `folder` and return its own folder there; older states but one are removed.

    Raises:
        TrainingError: the disk is full or the folder cannot be written; older states are untouched.
    """
    newest = _numbered(folder)
    number = newest[-1][0] + 1 if newest else 1
    target = folder / f"state-{number:06d}"
    partial = folder / f"partial-{number:06d}"
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _write(partial, state)
        os.replace(partial, target)
        _sync_folder(folder)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise TrainingError(
            f"The training state could not be saved in {folder} ({error}); free some space there and pause again."
        ) from error
    for _, old in newest[: len(newest) + 1 - KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def newest_state(folder: Path) -> Path | None:
    """Return the folder of the newest state in `folder`, or None."""
    states = _numbered(folder)
    return states[-1][1] if states else None


def load_state(path: Path) -> TrainingState:
    """Read a state that `save_state` wrote.

    Raises:
        TrainingError: a file is missing, or is not what was written.
    """
    try:
        values = json.loads((path / _VALUES).read_text(encoding="utf-8"))
        files = values["files"]
        if values["format"] > FORMAT:
            raise TrainingError(f"The training state in {path} was written by a newer grpo-gui; update to go on.")
        for name in (_WEIGHTS, _TENSORS):
            if _sha256(path / name) != files[name]:
                raise TrainingError(
                    f"The file {path / name} is not what was saved (its hash differs). Delete the folder {path} "
                    "to go on from the state before it."
                )
        return TrainingState(load_file(path / _WEIGHTS), load_file(path / _TENSORS), values["values"])
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise TrainingError(
            f"The training state in {path} cannot be read ({error}). Delete this folder to go on from the state "
            "before it."
        ) from error


def _write(partial: Path, state: TrainingState) -> None:
    for name, tensors in ((_WEIGHTS, state.weights), (_TENSORS, state.tensors)):
        # Clones: weights may share memory (tied embeddings), which safetensors refuses.
        # The metadata is that of a model folder: a snapshot's weights are then the same file, kept once.
        copies = {key: tensor.detach().cpu().clone().contiguous() for key, tensor in tensors.items()}
        save_file(copies, partial / name, metadata={"format": "pt"})
        with (partial / name).open("r+b") as written:  # Windows flushes writable files only
            os.fsync(written.fileno())
    files = {name: _sha256(partial / name) for name in (_WEIGHTS, _TENSORS)}
    with (partial / _VALUES).open("w", encoding="utf-8") as out:
        json.dump({"format": FORMAT, "files": files, "values": state.values}, out, allow_nan=False)
        out.flush()
        os.fsync(out.fileno())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    if not folder.is_dir():
        return []
    matches = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted((int(match[1]), path) for match, path in matches if match)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # Windows cannot open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
