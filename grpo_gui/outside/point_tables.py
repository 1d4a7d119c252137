"""Curves with one row a point, as `grpo-gui runs export` writes them: CSV or Parquet with metric, step and value."""

import csv
from array import array
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import numpy as np

from grpo_gui.outside.names import TIME_NAMES, Named, file_name
from grpo_gui.outside.parquet_reading import parquet_rows
from grpo_gui.outside.pieces import Piece, RunInfo, ScalarRow, number, whole
from grpo_gui.outside.source import WholeFile

COLUMNS = frozenset({"metric", "step", "value"})
_TIMES = ("time", *TIME_NAMES)
_SHOWN = 10  # runs that are named


class PointTable(WholeFile):
    """The curves of the first run in the file; rows of further runs are left out."""

    format = "metrics"

    def __init__(self, path: Path, name: str, *, is_csv: bool) -> None:
        super().__init__(path, name)
        self._is_csv = is_csv
        self._definitions: dict[str, str] = {}
        self.name_of = self._named

    def read_whole(self) -> Iterator[Piece]:
        """One piece a step, by rising step."""
        points, others, run = _Points(), dict[str, None](), None
        try:
            for place, record in enumerate(self._records(), 1):
                of = str(record.get("run") or "")
                run = of if run is None else run
                if of != run:
                    others[of] = None
                elif not points.take(record):
                    self.note("no metric, step and value", f"row {place}")
                elif record.get("definition"):
                    self._definitions.setdefault(str(record["metric"]), str(record["definition"]))
        except csv.Error as error:
            self.note(f"it cannot be read further ({error})")
        except ValueError as error:
            self.note(str(error))
        if others:
            names = ", ".join(list(others)[:_SHOWN]) + ", \u2026" * (len(others) > _SHOWN)
            self.note(f"it holds the curves of run {run}, which were taken, and of {names}; export each run to its own")
        yield from points.rows()

    def describe(self, info: RunInfo) -> None:
        """The name of the run."""
        try:
            record = next(self._records(), {})
        except (csv.Error, ValueError, OSError):
            return  # `read_whole` names it
        info.name = info.name or str(record.get("name") or "")

    def _named(self, raw: str, config: Mapping[str, object]) -> Named:
        """The name, and what the file says that it measures."""
        named = file_name(raw, config)
        return named._replace(definition_id=self._definitions.get(raw, named.definition_id))

    def _records(self) -> Iterator[Mapping[str, object]]:
        if not self._is_csv:
            yield from parquet_rows(self.path)
            return
        with self.path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            yield from csv.DictReader(file)


class _Points:
    """Many points in little memory."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._metrics, self._steps, self._values = array("q"), array("q"), array("d")
        self._times: dict[int, float] = {}

    def take(self, record: Mapping[str, object]) -> bool:
        """Keep a point; False where the row holds none."""
        metric, step, value = record.get("metric"), whole(record.get("step")), number(record.get("value"))
        if not metric or step is None or value is None:
            return False
        self._metrics.append(self._names.setdefault(str(metric), len(self._names)))
        self._steps.append(step)
        self._values.append(value)
        for name in _TIMES:
            if (time_s := number(record.get(name))) is not None:
                self._times.setdefault(step, time_s)
        return True

    def rows(self) -> Iterator[ScalarRow]:
        """The numbers of each step, by rising step."""
        names = list(self._names)
        order = np.argsort(np.frombuffer(self._steps, dtype=np.int64), kind="stable").tolist() if self._steps else []
        for step, places in groupby(order, key=self._steps.__getitem__):
            values = {names[self._metrics[place]]: self._values[place] for place in places}
            yield ScalarRow(step, values, self._times.get(step))
