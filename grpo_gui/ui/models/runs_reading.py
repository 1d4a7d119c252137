"""Reads what the Runs view lists. Runs beside the GUI thread; what did not change is not read again."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NoteRecord, RunRecord
from grpo_gui.ui.models.runs_row import RunRow
from grpo_gui.ui.run_config import config_of

SPARK_METRIC = "reward"


def read_rows(reader: StoreReader, known: Mapping[int, RunRow]) -> list[RunRow]:
    """All runs, newest first; curves only of those that went on since `known` was read."""
    notes = reader.all_notes()
    return [_row(reader, run, known.get(run.id), notes.get(run.id, ())) for run in reader.runs()]


def spark_bounds(rows: Sequence[RunRow]) -> tuple[float, float]:
    """The one scale of all sparklines: from the lowest to the highest of their values."""
    curves = [row.spark[np.isfinite(row.spark)] for row in rows]
    values = np.concatenate(curves) if curves else np.empty(0)
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _row(reader: StoreReader, run: RunRecord, known: RunRow | None, notes: tuple[NoteRecord, ...]) -> RunRow:
    if known is not None and (known.run.steps_done, known.run.config) == (run.steps_done, run.config):
        return replace(known, run=run, notes=notes)
    config = config_of(run)
    spark = reader.sparkline(run.id, SPARK_METRIC).values
    return RunRow(run, notes, spark, None if config is None else config.steps)
