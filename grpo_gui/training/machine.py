"""What the machine has left while a run goes on, memory and disk, and how fast it saves."""

import shutil
from pathlib import Path

import psutil
import torch

from grpo_gui.training.devices import system_metrics
from grpo_gui.training.handle import EventSink

_PROCESS = psutil.Process()


def machine_metrics(device: torch.device, folder: Path, sink: EventSink) -> dict[str, float]:
    """Return GB held by this process, GB of memory still free, GB free on the disk of `folder` (made or not yet).

    And the longest commit of the store behind `sink` since the last call, where there was one, and what `device` says.
    """
    existing = next((place for place in (folder, *folder.parents) if place.exists()), Path.cwd())
    metrics = system_metrics(device) | {
        "system/memory_gb": _PROCESS.memory_info().rss / 1e9,
        "system/memory_free_gb": psutil.virtual_memory().available / 1e9,
        "system/disk_free_gb": shutil.disk_usage(existing).free / 1e9,
    }
    write_ms = sink.write_ms()
    return metrics if write_ms is None else metrics | {"system/write_ms": write_ms}
