"""A slow disk is told by the commits of the store, as the trainer records them with its steps."""

import queue
from types import SimpleNamespace

import pytest

from grpo_gui.store import writer as writer_module
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.diagnosing import diagnose_run
from grpo_gui.training.trainer import Trainer
from grpo_gui.training.validation import config_to_json
from tests.training.fakes import tiny_config

STEPS = 110


class EveryStep:
    """A store that has committed each step before the next begins."""

    def __init__(self, writer):
        self.writer = writer
        self.congestion, self.flush, self.write_ms = writer.congestion, writer.flush, writer.write_ms

    def emit(self, event):
        self.writer.emit(event)
        assert self.writer.flush()


@pytest.fixture
def train(tiny_model, tmp_path, monkeypatch):
    """Trains a run into a real store and returns what was said of it, and its commit times."""
    monkeypatch.setattr(writer_module, "GATHER_S", 0.0)

    def train(clock):
        fake = SimpleNamespace(perf_counter=clock, monotonic=writer_module.time.monotonic)
        monkeypatch.setattr(writer_module, "time", fake)
        config = tiny_config(tiny_model, steps=STEPS, prompts_per_step=2, num_generations=2, num_iterations=1)
        writer = StoreWriter.open(tmp_path / "a.db")
        run_id = writer.create_run(
            NewRun(name="slow", task=config.task, config=config_to_json(config), seed=0, device="cpu")
        )
        Trainer(config, run_id, EveryStep(writer), queue.SimpleQueue(), tmp_path / "state").run()
        writer.close()
        with StoreReader(tmp_path / "a.db") as reader:
            said = [one.headline for one in diagnose_run(reader, run_id).findings if one.detector == "slow_disk"]
            return said, reader.points(run_id, "system/write_ms").values

    return train


def test_that_a_disk_that_commits_slowly_is_found(train):
    now_s = iter(range(1_000_000))
    said, times = train(lambda: next(now_s) * 0.15)  # the clock is read before and after a commit
    assert times.tolist() == pytest.approx([150.0] * STEPS)
    assert said == ["Saving takes long: one write in a hundred takes 150 ms."]


def test_that_commits_that_are_quick_are_recorded_and_no_finding(train):
    now_s = iter(range(1_000_000))
    said, times = train(lambda: next(now_s) * 0.002)
    assert times.tolist() == pytest.approx([2.0] * STEPS)
    assert said == []
