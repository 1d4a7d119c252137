"""One Parquet file: completions as TRL writes them, or a table of unknown origin, of completions or of metrics."""

from collections.abc import Iterator

from grpo_gui.outside.names import STEP_NAMES, file_name, trl_name
from grpo_gui.outside.parquet_reading import parquet_rows, read_parquet
from grpo_gui.outside.pieces import Piece, Sample, SampleRows, whole
from grpo_gui.outside.source import WholeFile
from grpo_gui.outside.tables import metrics_row
from grpo_gui.outside.trl_files import table_samples


class ParquetTable(WholeFile):
    """Its rows by step."""

    format = "completions"
    name_of = staticmethod(trl_name)

    def read_whole(self) -> Iterator[Piece]:
        """One piece a step; without a step all rows belong to step 1."""
        try:
            columns = read_parquet(self.path)
            if "prompt" not in columns or "completion" not in columns:
                raise ValueError("it lacks the columns prompt and completion")
        except ValueError as error:
            self.note(str(error))
            return
        steps = next((columns[name] for name in STEP_NAMES if name in columns), [])
        by_step: dict[int, list[Sample]] = {}
        for row, sample in enumerate(table_samples(columns)):
            step = whole(steps[row]) if row < len(steps) else None
            by_step.setdefault(1 if step is None else step, []).append(sample)
        time_s = self.path.stat().st_mtime
        for step in sorted(by_step):
            yield SampleRows(step, tuple(by_step[step]), self.name, time_s)


class MetricParquet(WholeFile):
    """Its rows are steps with numbers."""

    format = "metrics"
    name_of = staticmethod(file_name)

    def read_whole(self) -> Iterator[Piece]:
        """One piece a row."""
        try:
            for place, record in enumerate(parquet_rows(self.path), 1):
                row = metrics_row(record)
                if row is None:
                    self.note("no step with numbers", f"row {place}")
                else:
                    yield row
        except ValueError as error:
            self.note(str(error))
