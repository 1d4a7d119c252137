import shutil

import psutil
import pytest

from grpo_gui.training.machine import machine_metrics


def test_that_memory_and_disk_are_told_in_gigabytes(tmp_path):
    metrics = machine_metrics(tmp_path)
    assert metrics["system/memory_gb"] == pytest.approx(psutil.Process().memory_info().rss / 1e9, rel=0.2)
    assert 0 < metrics["system/memory_free_gb"] <= psutil.virtual_memory().total / 1e9
    assert metrics["system/disk_free_gb"] == pytest.approx(shutil.disk_usage(tmp_path).free / 1e9, rel=0.1)


def test_that_a_folder_that_is_not_made_yet_has_a_disk(tmp_path):
    assert machine_metrics(tmp_path / "a" / "b")["system/disk_free_gb"] > 0
