"""Curves as tables: every point with all its digits."""

import csv
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from grpo_gui.errors import MissingExtraError
from grpo_gui.exports.curves import COLUMNS, CurveTable, curve_tables, write_csv, write_parquet
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import SeriesPoints, StepTotals
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import new_run, step
from tests.store.test_shelf import add_run
from tests.ui.fakes import run_record


def silent(done, total):
    pass


def never():
    return False


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    add_run(writer, name='with "quotes", commas\nand 标签')
    second = writer.create_run(new_run(name="second"))
    for number in range(1, 2001):
        value = math.inf if number == 5 else math.nan if number == 6 else 0.1 * number
        writer.emit(step(second, number, groups=(), metrics=(("reward", value),)))
    assert writer.flush()
    writer.close()
    return path


def rows_of(file):
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_that_a_csv_has_every_point_of_every_curve(database, tmp_path):
    target = tmp_path / "a.csv"
    with StoreReader(database) as reader:
        write_csv(curve_tables(reader, (1, 2), silent, never), target)
        rows = rows_of(target)
        for run_id in (1, 2):
            for name in reader.series_names(run_id):
                points = reader.points(run_id, name)
                mine = [row for row in rows if int(row["run"]) == run_id and row["metric"] == name]
                assert [int(row["step"]) for row in mine] == points.steps.tolist()
                assert np.array_equal([float(row["value"]) for row in mine], points.values, equal_nan=True)
                assert {row["definition"] for row in mine} == {points.definition_id}
    assert len(rows) == 3 * 2 + 1 + 2000
    assert rows[0]["name"] == 'with "quotes", commas\nand 标签'
    assert rows[1]["samples"] == "16"
    assert float(rows[1]["time"]) == 1e9 + 2


def test_that_parquet_has_the_same_in_real_numbers(database, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the data extra")
    target, text = tmp_path / "a.parquet", tmp_path / "a.csv"
    with StoreReader(database) as reader:
        write_parquet(curve_tables(reader, (1, 2), silent, never), target)
        write_csv(curve_tables(reader, (1, 2), silent, never), text)
    table, rows = parquet.read_table(target), rows_of(text)
    assert tuple(table.column_names) == COLUMNS
    assert table.num_rows == len(rows)
    assert np.array_equal(table["value"].to_numpy(), [float(row["value"]) for row in rows], equal_nan=True)
    assert table["step"].to_pylist() == [int(row["step"]) for row in rows]
    assert table["tokens"].to_pylist() == [int(row["tokens"]) for row in rows]


def test_that_parquet_without_pyarrow_names_the_command(database, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with StoreReader(database) as reader, pytest.raises(MissingExtraError, match=r'pip install "grpo-gui\[data\]"'):
        write_parquet(curve_tables(reader, (1,), silent, never), tmp_path / "a.parquet")


def test_that_an_export_tells_how_far_it_is_and_stops_when_asked(database):
    told = []
    with StoreReader(database) as reader:
        tables = list(curve_tables(reader, (1, 2), lambda *now: told.append(now), lambda: len(told) == 2))
    assert [table.metric for table in tables] == ["reward", "kl"]
    assert told == [(1, 4), (2, 4)]


@given(
    arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats(width=64)),
    st.integers(0, 30),
)
def test_that_values_survive_the_text_exactly(values, first):
    steps = np.arange(first, first + len(values))
    points = SeriesPoints("reward", "grpo-gui/reward/1", steps, values)
    half = steps[: len(steps) // 2]
    totals = StepTotals(half, half, half * 0.5, half * 8, half * 99, np.zeros((len(half), 27), dtype=np.int64))
    rows = list(CurveTable(run_record(), points, totals).rows())
    assert np.array_equal([float(row[-1]) for row in rows], values, equal_nan=True)
    assert [row[COLUMNS.index("step")] for row in rows] == steps.tolist()
    samples = [row[COLUMNS.index("samples")] for row in rows]
    assert samples == sorted(samples)
