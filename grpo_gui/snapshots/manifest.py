"""`snapshot.json`: what a snapshot is, where it comes from, and the hash of each of its files."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grpo_gui.errors import SnapshotError

FORMAT = 1
MANIFEST = "snapshot.json"
TRAINING_STATE = "training_state"

REASONS = ("every", "best", "hand", "stop", "end", "export")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """The hash and the size of one file."""

    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Parent:
    """What a run began with: a model, and for a branch also the run and step whose weights it took over."""

    model: str  # "builtin" or a folder
    reference_sha256: str = ""  # of the reference policy's weights
    run_id: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of `snapshot.json`. `files` has forward slashes in its names and does not name itself.

    `inner_updates` above 0 tells that the weights lie inside the step after `step`.
    `config` is the run's config as JSON fields, `metrics` those of the newest step and evaluation.
    """

    run_id: int
    run_name: str
    step: int
    optimizer_step: int
    inner_updates: int
    reason: str  # one of REASONS
    created_s: float  # since the epoch
    program: str
    parent: Parent
    metrics: Mapping[str, float]
    config: Mapping[str, Any]
    versions: Mapping[str, str]
    files: Mapping[str, FileEntry] = field(default_factory=dict)

    @property
    def has_training_state(self) -> bool:
        """True when a run can go on from here bit for bit."""
        return any(name.startswith(f"{TRAINING_STATE}/") for name in self.files)

    @property
    def size_bytes(self) -> int:
        """What the files take together; equal ones are the same file on the disk."""
        return sum({entry.sha256: entry.size_bytes for entry in self.files.values()}.values())


def manifest_to_json(manifest: Manifest) -> str:
    """The text of `snapshot.json`. A metric that is not finite is null."""
    values = {
        "format": FORMAT,
        "program": manifest.program,
        "created_s": manifest.created_s,
        "run": {"id": manifest.run_id, "name": manifest.run_name},
        "step": manifest.step,
        "optimizer_step": manifest.optimizer_step,
        "inner_updates": manifest.inner_updates,
        "reason": manifest.reason,
        "parent": {
            "model": manifest.parent.model,
            "reference_sha256": manifest.parent.reference_sha256,
            "run": manifest.parent.run_id,
            "step": manifest.parent.step,
        },
        "metrics": {name: value if math.isfinite(value) else None for name, value in manifest.metrics.items()},
        "config": dict(manifest.config),
        "versions": dict(manifest.versions),
        "files": {
            name: {"sha256": entry.sha256, "bytes": entry.size_bytes} for name, entry in sorted(manifest.files.items())
        },
    }
    return json.dumps(values, indent=2, allow_nan=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a snapshot's folder.

    Raises:
        SnapshotError: there is none, it is damaged, or a newer version wrote it.
    """
    path = folder / MANIFEST
    try:
        return _from_json(json.loads(path.read_text(encoding="utf-8")), path)
    except FileNotFoundError as error:
        raise SnapshotError(f"{folder} is no snapshot: it has no {MANIFEST}. Choose a snapshot's folder.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SnapshotError(
            f"{path} cannot be read ({error}), so the snapshot is not used; choose another snapshot."
        ) from error


def _from_json(values: dict[str, Any], path: Path) -> Manifest:
    if values["format"] > FORMAT:
        raise SnapshotError(f"{path} was written by a newer grpo-gui; update to use this snapshot.")
    parent = values["parent"]
    return Manifest(
        run_id=int(values["run"]["id"]),
        run_name=str(values["run"]["name"]),
        step=int(values["step"]),
        optimizer_step=int(values["optimizer_step"]),
        inner_updates=int(values["inner_updates"]),
        reason=str(values["reason"]),
        created_s=float(values["created_s"]),
        program=str(values["program"]),
        parent=Parent(str(parent["model"]), str(parent["reference_sha256"]), parent["run"], parent["step"]),
        metrics={name: math.nan if value is None else float(value) for name, value in values["metrics"].items()},
        config=dict(values["config"]),
        versions={name: str(version) for name, version in values["versions"].items()},
        files={name: FileEntry(str(entry["sha256"]), int(entry["bytes"])) for name, entry in values["files"].items()},
    )
