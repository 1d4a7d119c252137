"""Put a new learner where a snapshot was made: of the same run, or of another one that is branched from."""

from pathlib import Path
from typing import Any

from grpo_gui.errors import TrainingError
from grpo_gui.snapshots.loading import load_snapshot
from grpo_gui.snapshots.manifest import TRAINING_STATE, Manifest
from grpo_gui.snapshots.verifying import verify
from grpo_gui.training.learner import Learner
from grpo_gui.training.learner_state import restore
from grpo_gui.training.state import load_state


def take_up_snapshot(learner: Learner, folder: Path, *, is_branch: bool) -> tuple[Manifest, dict[str, Any]]:
    """Take over weights, optimizer, random state and counters; return the manifest and the state's other values.

    Without a training state in the snapshot a branch takes over the weights alone: its optimizer begins anew, and
    its random numbers with its seed.

    Raises:
        SnapshotError: the snapshot is damaged.
        ModelError: its weights belong to a model of another shape.
        TrainingError: it has no training state to go on from, or began with another model.
    """
    manifest = verify(folder)
    if manifest.has_training_state:
        state = load_state(folder / TRAINING_STATE)
        restore(learner, state, is_branch=is_branch)
        return manifest, state.values
    if not is_branch:
        raise TrainingError(
            f"The snapshot {folder} was made without its training state, so the run cannot go on from it exactly; "
            "branch from it instead, or resume from another snapshot."
        )
    _take_weights(learner, folder, manifest)
    return manifest, {}


def _take_weights(learner: Learner, folder: Path, manifest: Manifest) -> None:
    if manifest.parent.reference_sha256 != learner.reference_sha256:
        raise TrainingError(
            f"The model {learner.config.model!r} is not the one that the snapshot's run began with, so KL would be "
            "measured from another reference; choose that model for the branch."
        )
    learner.policy.load_state_dict(load_snapshot(folder, learner.policy.device).state_dict())
    learner.step, learner.optimizer_step = manifest.step, manifest.optimizer_step
    learner.num_tokens = int(manifest.metrics.get("num_tokens", 0.0))
