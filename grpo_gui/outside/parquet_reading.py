"""Reads Parquet files; pyarrow loads at the first one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from grpo_gui.errors import MissingExtraError

_ROWS_AT_ONCE = 10_000


def parquet_columns(path: Path) -> frozenset[str]:
    """The names of a file's columns; empty where it cannot be read, which whoever reads it will tell."""
    try:
        with _parquet() as parquet:
            return frozenset(map(str, parquet.read_schema(path).names))
    except (MissingExtraError, ValueError):
        return frozenset()


def parquet_rows(path: Path) -> Iterator[dict[str, object]]:
    """The rows of a file one by one, so that a large one takes little memory.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ValueError: it is damaged, or not complete yet.
    """
    with _parquet() as parquet, parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS_AT_ONCE):
            yield from batch.to_pylist()


def read_parquet(path: Path) -> dict[str, list[object]]:
    """The columns of a file.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ValueError: it is damaged, or not complete yet.
    """
    with _parquet() as parquet:
        table = parquet.read_table(path)
        return {str(name): table.column(place).to_pylist() for place, name in enumerate(table.column_names)}


@contextmanager
def _parquet() -> Iterator[ModuleType]:
    """The reader of pyarrow; what it says of a file becomes a ValueError."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet files need pyarrow: pip install 'grpo-gui[data]'") from error
    try:
        yield pyarrow.parquet
    except (pyarrow.ArrowException, OverflowError, UnicodeDecodeError, OSError) as error:  # OSError: damaged pages
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise ValueError(f"it cannot be read as parquet ({reason})") from error
