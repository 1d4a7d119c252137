"""What the machine has left while a run goes on: memory and disk."""

import shutil
from pathlib import Path

import psutil

_PROCESS = psutil.Process()


def machine_metrics(folder: Path) -> dict[str, float]:
    """Return GB held by this process, GB of memory still free, GB free on the disk of `folder` (made or not yet)."""
    existing = next((place for place in (folder, *folder.parents) if place.exists()), Path.cwd())
    return {
        "system/memory_gb": _PROCESS.memory_info().rss / 1e9,
        "system/memory_free_gb": psutil.virtual_memory().available / 1e9,
        "system/disk_free_gb": shutil.disk_usage(existing).free / 1e9,
    }
