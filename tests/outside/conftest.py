"""What the tests of runs made elsewhere share: a database, and folders as other programs leave them."""

import json
import shutil
from pathlib import Path

import pytest

from grpo_gui.outside.importing import import_path
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter

DATA = Path(__file__).parent / "data"


@pytest.fixture
def writer(tmp_path):
    writer = StoreWriter.open(tmp_path / "a.db")
    yield writer
    writer.close()


@pytest.fixture
def reader(writer):
    with StoreReader(writer.path) as reader:
        yield reader


@pytest.fixture
def copied(tmp_path):
    """Copy a folder of the test data to a place where it may be changed."""

    def copy(name):
        return Path(shutil.copytree(DATA / name, tmp_path / name))

    return copy


def import_one(path, writer, **options):
    (report,) = import_path(path, writer, **options)
    return report


def write_lines(path, records, mode="w"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open(mode, encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path
