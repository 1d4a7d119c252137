"""Empties the bin: removes runs with their files in small pieces, so that no run that trains meanwhile is held up."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grpo_gui.errors import StoreError
from grpo_gui.paths import run_files_dir
from grpo_gui.store.records_runs import BinnedRun


class Deleter(Protocol):
    """What the bin asks of the store's writer."""

    def begin_deleting(self, run_id: int) -> None:
        """Mark a run in the bin as no longer whole."""

    def delete_some(self, run_id: int) -> int | None:
        """Delete some rows; return how many completions were among them, None when the whole run is gone."""


@dataclass(frozen=True, slots=True)
class Emptied:
    """What was deleted, and what stays because of the cancel."""

    deleted: int
    left: int


def empty_bin(
    writer: Deleter,
    database: Path,
    runs: Sequence[BinnedRun],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Emptied:
    """Delete runs of the bin for good: their snapshots and training states first, then their rows.

    A run whose deletion was cut off, by `cancelled` or a crash, stays in the bin and goes on the next time.
    `progress` gets completions deleted and to delete (a run without any counts as one). Blocks; not for the GUI thread.

    Raises:
        StoreError: files cannot be deleted, or the database cannot be written.
    """
    total, done = sum(max(run.completions, 1) for run in runs), 0
    for place, run in enumerate(runs):
        if cancelled():
            return Emptied(place, len(runs) - place)
        writer.begin_deleting(run.id)
        _remove_files(run_files_dir(database, run.id))
        gone = 0
        while (piece := writer.delete_some(run.id)) is not None:
            gone += piece
            progress(min(done + gone, total), total)
            if cancelled():
                return Emptied(place, len(runs) - place)
        done += max(run.completions, 1)
        progress(done, total)
    return Emptied(len(runs), 0)


def _remove_files(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(
            f"The files of the run in {folder} cannot be deleted ({error.strerror or error}). Close what uses them, "
            "then empty the bin again."
        ) from error
