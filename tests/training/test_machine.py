import shutil

import psutil
import pytest
import torch

from grpo_gui.training.machine import machine_metrics
from tests.training.fakes import Sink

CPU = torch.device("cpu")


def test_that_memory_and_disk_are_told_in_gigabytes(tmp_path):
    metrics = machine_metrics(CPU, tmp_path, Sink())
    assert metrics["system/memory_gb"] == pytest.approx(psutil.Process().memory_info().rss / 1e9, rel=0.2)
    assert 0 < metrics["system/memory_free_gb"] <= psutil.virtual_memory().total / 1e9
    assert metrics["system/disk_free_gb"] == pytest.approx(shutil.disk_usage(tmp_path).free / 1e9, rel=0.1)


def test_that_a_folder_that_is_not_made_yet_has_a_disk(tmp_path):
    assert machine_metrics(CPU, tmp_path / "a" / "b", Sink())["system/disk_free_gb"] > 0


def test_that_the_longest_commit_is_told_where_there_was_one(tmp_path):
    sink = Sink()
    assert "system/write_ms" not in machine_metrics(CPU, tmp_path, sink)
    sink.write_ms = lambda: 12.5
    assert machine_metrics(CPU, tmp_path, sink)["system/write_ms"] == 12.5
