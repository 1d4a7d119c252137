"""Export a snapshot as a folder that transformers' Auto classes load, in the precision that is asked for."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from grpo_gui.errors import BadInputError, SnapshotError
from grpo_gui.language.model_folder import ADAPTER
from grpo_gui.snapshots.folders import entries_of, new_folder
from grpo_gui.snapshots.loading import load_snapshot
from grpo_gui.snapshots.manifest import MANIFEST, TRAINING_STATE, Manifest, manifest_to_json
from grpo_gui.snapshots.verifying import verify

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_CONFIG = "config.json"


def export_snapshot(snapshot: Path, target: Path, dtype: str = "fp32") -> Manifest:
    """Write the model of a snapshot to a new folder, without its training state; return the export's manifest.

    A LoRA adapter is merged into the model that it was made for.

    Args:
        snapshot: a snapshot's folder; its hashes are checked first.
        target: a folder that is not there yet, or is empty.
        dtype: fp32, bf16 or fp16.

    Raises:
        BadInputError: no such dtype, or the target is in use.
        SnapshotError: the snapshot is damaged, the disk refuses, or a weight is too large for fp16.
    """
    if dtype not in DTYPES:
        raise BadInputError(f"There is no precision {dtype!r}; choose one of {', '.join(DTYPES)}.")
    _make_room(target)
    manifest = verify(snapshot, with_training_state=False)
    names = [name for name in manifest.files if not name.startswith(f"{TRAINING_STATE}/")]
    with new_folder(target) as partial, TemporaryDirectory(dir=partial.parent) as merged:
        source = snapshot
        if ADAPTER in names:
            source = Path(merged)
            load_snapshot(snapshot, "cpu").save(source)  # loading merges the adapter into its model
            names = [path.name for path in source.iterdir()]
        for name in names:
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(".safetensors"):
                _convert(source / name, partial / name, dtype)
            elif name == _CONFIG:
                _write_config(source / name, partial / name, dtype)
            else:
                shutil.copyfile(source / name, partial / name)
        exported = replace(manifest, files=entries_of(partial))
        (partial / MANIFEST).write_text(manifest_to_json(exported), encoding="utf-8")
    return exported


def _make_room(target: Path) -> None:
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    elif target.exists():
        raise BadInputError(f"{target} is there already and is not overwritten; choose another folder with --to.")


def _convert(source: Path, target: Path, dtype: str) -> None:
    try:
        weights = {name: _converted(name, tensor, dtype) for name, tensor in load_file(source).items()}
    except SafetensorError as error:
        raise SnapshotError(f"{source} cannot be converted ({error}); choose another snapshot.") from error
    try:
        save_file(weights, target, metadata={"format": "pt"})
    except SafetensorError as error:  # it says so also of a full disk
        raise OSError(str(error)) from error


def _converted(name: str, tensor: Tensor, dtype: str) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    result = tensor.to(DTYPES[dtype])
    if dtype == "fp16" and not torch.isfinite(result).all() and torch.isfinite(tensor).all():
        raise SnapshotError(f"{name} has weights beyond 65504, which fp16 cannot hold; export as bf16 or fp32.")
    return result


def _write_config(source: Path, target: Path, dtype: str) -> None:
    values = json.loads(source.read_text(encoding="utf-8"))
    name = str(DTYPES[dtype]).removeprefix("torch.")
    values |= {"dtype": name, "torch_dtype": name}
    target.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
