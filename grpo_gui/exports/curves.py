"""Every curve of runs as a long table with all points: one row a point, as CSV or Parquet."""

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from grpo_gui.errors import MissingExtraError
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import RunRecord, SeriesPoints, StepTotals

COLUMNS = ("run", "name", "seed", "metric", "definition", "unit", "step", "samples", "tokens", "time", "value")
_PARQUET_MISSING = 'Parquet needs pyarrow; install it with: pip install "grpo-gui[data]".'

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]
IntArray = npt.NDArray[np.int64]


class CurveTable:
    """The points of one metric of one run, with what the other axes of the plots need."""

    def __init__(self, run: RunRecord, points: SeriesPoints, totals: StepTotals) -> None:
        self.run, self.metric, self.definition = run, points.name, points.definition_id
        self.unit = definition_of(points.name).unit
        self.steps, self.values = points.steps, points.values
        place = np.searchsorted(totals.steps, points.steps, side="right") - 1
        self.samples = _at(totals.samples, place)
        self.tokens = _at(totals.tokens, place)
        known = place >= 0
        self.times = np.full(len(place), np.nan)
        self.times[known] = totals.times_s[place[known]]

    def rows(self) -> Iterator[tuple[object, ...]]:
        """The rows in the order of `COLUMNS`; floats with all digits."""
        head = (self.run.id, self.run.name, self.run.seed, self.metric, self.definition, self.unit)
        columns = self.steps, self.samples, self.tokens, self.times, self.values
        for step, samples, tokens, time_s, value in zip(*(column.tolist() for column in columns), strict=True):
            yield (*head, step, samples, tokens, "" if time_s != time_s else repr(time_s), repr(value))


def curve_tables(
    reader: StoreReader, run_ids: Sequence[int], progress: Progress, cancelled: Cancelled
) -> Iterator[CurveTable]:
    """The tables of all curves of the runs, one after the other; ends early when it was cancelled."""
    runs = [run for run_id in run_ids if (run := reader.run(run_id)) is not None]
    names = [(run, name) for run in runs for name in reader.series_names(run.id)]
    totals = {run.id: reader.totals(run.id) for run in runs}
    for place, (run, name) in enumerate(names):
        if cancelled():
            return
        yield CurveTable(run, reader.points(run.id, name), totals[run.id])
        progress(place + 1, len(names))


def write_csv(tables: Iterator[CurveTable], target: Path) -> None:
    """Write UTF-8 with a header; NaN and infinities are nan, inf and -inf, an unknown time is empty."""
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for table in tables:
            writer.writerows(table.rows())


def write_parquet(tables: Iterator[CurveTable], target: Path) -> None:
    """Write one row group a curve, with real numbers in the columns.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(_PARQUET_MISSING) from None
    texts = {"name", "metric", "definition", "unit"}
    reals = {"time", "value"}
    kinds = [
        (name, pa.string() if name in texts else pa.float64() if name in reals else pa.int64()) for name in COLUMNS
    ]
    schema = pa.schema(kinds)
    with pq.ParquetWriter(target, schema) as writer:
        for table in tables:
            count = len(table.steps)
            head = (table.run.id, _text(table.run.name), table.run.seed, table.metric, table.definition, table.unit)
            columns = [[value] * count for value in head]
            arrays = [table.steps, table.samples, table.tokens, table.times, table.values]
            data = [pa.array(column, kind) for column, (_, kind) in zip([*columns, *arrays], kinds, strict=True)]
            writer.write_table(pa.Table.from_arrays(data, schema=schema))


def _at(values: IntArray, place: IntArray) -> IntArray:
    """Values at places, 0 before the first one."""
    if not len(values):
        return np.zeros(len(place), dtype=np.int64)
    return np.where(place >= 0, values[np.maximum(place, 0)], 0)


def _text(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
