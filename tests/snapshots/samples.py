"""Manifests and snapshots of a tiny model."""

from dataclasses import replace
from pathlib import Path

from grpo_gui.language.loading import load_policy
from grpo_gui.snapshots.manifest import Manifest, Parent
from grpo_gui.snapshots.saving import SavedSnapshot, save_snapshot

MANIFEST = Manifest(
    run_id=3,
    run_name="compare",
    step=50,
    optimizer_step=100,
    inner_updates=0,
    reason="every",
    created_s=1_700_000_000.0,
    program="grpo-gui 1",
    parent=Parent("builtin", "abc", None, None),
    metrics={"reward": 0.5, "eval/reward": 0.4},
    config={"task": "compare", "steps": 100},
    versions={"torch": "2"},
)


def make_snapshot(target: Path, model: Path, *, state: Path | None = None, **changes) -> SavedSnapshot:
    return save_snapshot(target, replace(MANIFEST, **changes), load_policy(str(model), "cpu").save, state)
