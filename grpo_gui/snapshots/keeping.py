"""Which snapshots of a run stay: the last ones, the best, and what is pinned. Kept beside them as files."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grpo_gui.errors import SnapshotError

RULE_FILE = "keep.json"
# Empty files in a snapshot's folder; not part of what is hashed.
PIN_FILE = "pinned"
SUPERSEDED_FILE = "superseded"


@dataclass(frozen=True, slots=True)
class KeepRule:
    """Keep the newest `last` snapshots (0: all of them), the best and the pinned ones."""

    last: int = 5


@dataclass(frozen=True, slots=True)
class Kept:
    """What the rule asks of a snapshot. `held_out` is its held-out reward, NaN when none was measured."""

    path: Path
    step: int
    created_s: float
    held_out: float
    pinned: bool
    superseded: bool = False  # its step was done anew when the run was resumed from an earlier one


def best(snapshots: Sequence[Kept]) -> Kept | None:
    """The snapshot with the highest held-out reward, the earliest of several; None when none was measured."""
    known = [snapshot for snapshot in snapshots if math.isfinite(snapshot.held_out) and not snapshot.superseded]
    return max(known, key=lambda snapshot: (snapshot.held_out, -snapshot.step), default=None)


def to_remove(snapshots: Sequence[Kept], rule: KeepRule) -> list[Kept]:
    """The snapshots that the rule lets go: superseded ones first, then the oldest."""
    candidates = _candidates(snapshots)
    return candidates[: len(candidates) - rule.last] if 0 < rule.last < len(candidates) else []


def next_to_go(snapshots: Sequence[Kept], rule: KeepRule) -> Kept | None:
    """The snapshot that the next one will push out; None while there is room."""
    candidates = _candidates(snapshots)
    return candidates[0] if candidates and 0 < rule.last <= len(candidates) else None


def most_kept(rule: KeepRule, pinned: int) -> int:
    """How many snapshots the rule keeps at most, with `pinned` of them pinned; 0 without a limit."""
    return rule.last + 1 + pinned if rule.last else 0


def read_rule(folder: Path, default: KeepRule) -> KeepRule:
    """The rule of a run's snapshot folder; `default` until one was written, or when the file is damaged."""
    try:
        last = json.loads((folder / RULE_FILE).read_text(encoding="utf-8"))["last"]
    except (OSError, ValueError, KeyError, TypeError):
        return default
    return KeepRule(last) if isinstance(last, int) and last >= 0 else default


def write_rule(folder: Path, rule: KeepRule) -> None:
    """Keep another rule for a run's snapshots; its trainer reads it whenever it made a snapshot.

    Raises:
        SnapshotError: the file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"{RULE_FILE}.part"
        partial.write_text(json.dumps({"last": rule.last}) + "\n", encoding="utf-8")
        os.replace(partial, folder / RULE_FILE)
    except OSError as error:
        raise SnapshotError(
            f"The rule cannot be kept in {folder} ({error.strerror or error}); check the rights of that folder."
        ) from error


def is_pinned(snapshot: Path) -> bool:
    """True when the snapshot stays whatever the rule says."""
    return (snapshot / PIN_FILE).exists()


def is_superseded(snapshot: Path) -> bool:
    """True when the steps of the snapshot were done anew."""
    return (snapshot / SUPERSEDED_FILE).exists()


def set_pinned(snapshot: Path, pinned: bool) -> None:
    """Pin a snapshot, or let the rule decide about it again.

    Raises:
        SnapshotError: the folder cannot be written.
    """
    try:
        if pinned:
            (snapshot / PIN_FILE).touch()
        else:
            (snapshot / PIN_FILE).unlink(missing_ok=True)
    except OSError as error:
        raise SnapshotError(
            f"The snapshot {snapshot} cannot be pinned or unpinned ({error.strerror or error}); check that it is "
            "still there and can be written."
        ) from error


def _candidates(snapshots: Sequence[Kept]) -> list[Kept]:
    """Those that are neither best nor pinned: superseded ones first, then the oldest."""
    top = best(snapshots)
    others = [snapshot for snapshot in snapshots if snapshot is not top and not snapshot.pinned]
    return sorted(others, key=lambda snapshot: (not snapshot.superseded, snapshot.created_s, snapshot.step))
