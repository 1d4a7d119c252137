"""When a trainer makes a snapshot, what it says of it, and which older ones it lets go."""

import math
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grpo_gui import __version__
from grpo_gui.errors import ModelError, SnapshotError
from grpo_gui.events import Event, SnapshotRemoved, SnapshotSaved
from grpo_gui.snapshots.folders import free_name
from grpo_gui.snapshots.keeping import KeepRule, read_rule, set_pinned
from grpo_gui.snapshots.manifest import Manifest, Parent
from grpo_gui.snapshots.saving import save_snapshot
from grpo_gui.snapshots.shelf import HELD_OUT, apply_rule, shelf_folder, snapshot_name, supersede_after, sweep
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.devices import versions
from grpo_gui.training.export_checks import ExportChecks
from grpo_gui.training.learner import Learner
from grpo_gui.training.presets import run_name

Place = tuple[int, int]  # complete steps and optimizer steps


class Snapshotter:
    """Knows a run's newest metrics and best held-out reward, and makes its snapshots. Used by the trainer's thread.

    Args:
        config: when snapshots are due, and how many are kept.
        run_id: goes into events and manifests.
        run_files: the run's own folder; the snapshots lie in a folder inside it.
        emit: takes the events.
    """

    def __init__(self, config: TrainConfig, run_id: int, run_files: Path, emit: Callable[[Event], None]) -> None:
        self._config, self._run_id, self._emit = config, run_id, emit
        self._folder = shelf_folder(run_files).absolute()  # what the database keeps must not depend on where we are
        self._metrics: dict[str, float] = {}
        self._best = -math.inf
        self._is_new_best = False
        self._branched_from: tuple[int, int] | None = None  # run and step
        self._checks = ExportChecks()
        self._newest: Place | None = None  # of the newest snapshot, or of where the trainer began
        sweep(self._folder)

    def begin(self, learner: Learner) -> None:
        """Note where the trainer begins: nothing was learned since, and later snapshots are of steps done anew."""
        self._newest = (learner.step, learner.optimizer_step)
        supersede_after(self._folder, learner.step)

    def note_step(self, metrics: Mapping[str, float]) -> None:
        """Take the metrics of the newest step."""
        self._metrics |= metrics
        self._is_new_best = False

    def note_evaluation(self, metrics: Mapping[str, float]) -> None:
        """Take the metrics of the newest evaluation."""
        self._metrics |= metrics
        held_out = metrics.get(HELD_OUT, -math.inf)
        self._is_new_best = held_out > self._best
        self._best = max(self._best, held_out)

    def due(self, step: int) -> str | None:
        """Why a snapshot is to be made after this step, None when it is not. The last step has one anyway."""
        if step == self._config.steps:
            return None
        if self._config.save_best and self._is_new_best:
            return "best"
        return "every" if self._config.save_steps and step % self._config.save_steps == 0 else None

    def is_new(self, learner: Learner) -> bool:
        """True when something was learned since the newest snapshot."""
        return self._newest != (learner.step, learner.optimizer_step)

    def make(self, learner: Learner, reason: str, state: Path | None) -> None:
        """Make a snapshot and let go what the keep-rule no longer keeps.

        Raises:
            SnapshotError: it could not be written, or not be loaded again; the older ones are untouched.
        """
        target = free_name(self._folder, snapshot_name(learner.step))
        saved = save_snapshot(target, self._manifest(learner, reason), learner.policy.save, state)
        measures = self._checked(learner, target)
        self._newest = (learner.step, learner.optimizer_step)
        if reason == "hand":
            set_pinned(target, True)
        manifest = saved.manifest
        self._emit(
            SnapshotSaved(
                self._run_id,
                manifest.step,
                manifest.created_s,
                str(target),
                reason,
                manifest.has_training_state,
                manifest.size_bytes,
                saved.sha256,
                tuple(self._metrics.items()),
                (("snapshot/size_gb", manifest.size_bytes / 1e9), *measures.items()),
            )
        )
        for gone in apply_rule(self._folder, read_rule(self._folder, KeepRule(self._config.save_total_limit))):
            self._emit(SnapshotRemoved(self._run_id, gone.step, str(gone.path)))

    def values(self) -> dict[str, Any]:
        """What a saved state keeps of it, as JSON."""
        return {
            "metrics": {name: value for name, value in self._metrics.items() if math.isfinite(value)},
            "best": self._best if math.isfinite(self._best) else None,
            "branched_from": self._branched_from,
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take back what `values` gave; a state of an older version has nothing."""
        self._metrics = dict(values.get("metrics", {}))
        best = values.get("best")
        self._best = -math.inf if best is None else float(best)
        branched_from = values.get("branched_from")
        self._branched_from = None if branched_from is None else (int(branched_from[0]), int(branched_from[1]))

    def branch_from(self, parent: Manifest) -> None:
        """Note that the run takes over the weights of a snapshot of another run."""
        self._branched_from = (parent.run_id, parent.step)

    def _checked(self, learner: Learner, target: Path) -> dict[str, float]:
        """Measure whether a snapshot is the model in training; one that cannot be loaded is not kept."""
        try:
            return self._checks.measure(learner.policy, target)
        except (ModelError, SnapshotError) as error:
            shutil.rmtree(target, ignore_errors=True)
            raise SnapshotError(
                f"The snapshot {target.name} was written but could not be loaded again, so it is not kept; the run "
                f"goes on. {error}"
            ) from error

    def _manifest(self, learner: Learner, reason: str) -> Manifest:
        run_id, step = self._branched_from or (None, None)
        return Manifest(
            run_id=self._run_id,
            run_name=run_name(self._config),
            step=learner.step,
            optimizer_step=learner.optimizer_step,
            inner_updates=0 if learner.progress is None else learner.progress.iteration,
            reason=reason,
            created_s=time.time(),
            program=f"grpo-gui {__version__}",
            parent=Parent(self._config.model, learner.reference_sha256, run_id, step),
            metrics=self._metrics,
            config=asdict(learner.next_config),
            versions=dict(versions()),
        )
