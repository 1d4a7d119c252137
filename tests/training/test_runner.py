import logging
import queue
import subprocess
import sys

import pytest

from grpo_gui.commands import Pause, Resume
from grpo_gui.errors import BadInputError, StoreError
from grpo_gui.events import RunFailed, RunStatus, StepCompleted, TrainerStatus
from grpo_gui.training.runner import claim_new_run, run_in_foreground
from grpo_gui.training.thread import TrainerThread
from grpo_gui.training.trainer import Trainer
from tests.training.fakes import Sink, tiny_config


def test_that_an_error_for_the_user_becomes_an_event_without_traceback(tiny_model, tmp_path):
    sink = Sink()
    config = tiny_config(tiny_model, num_generations=1)
    assert run_in_foreground(config, claim_new_run(3, tmp_path, sink), sink, queue.SimpleQueue()) is RunStatus.FAILED
    (failed,) = sink.of(RunFailed)
    assert "judged against the others" in failed.message
    assert failed.traceback == ""
    assert sink.statuses == [RunStatus.WARMING_UP, RunStatus.WARMING_UP, RunStatus.FAILED]


def test_that_an_error_of_ours_becomes_an_event_with_traceback(tiny_model, tmp_path, monkeypatch, caplog):
    def fail(self):
        self.step = 4
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Trainer, "run", fail)
    sink = Sink()
    with caplog.at_level(logging.CRITICAL):
        config = tiny_config(tiny_model)
        assert (
            run_in_foreground(config, claim_new_run(3, tmp_path, sink), sink, queue.SimpleQueue()) is RunStatus.FAILED
        )
    (failed,) = sink.of(RunFailed)
    assert failed.step == 4
    assert "ZeroDivisionError: oh" in failed.message
    assert "Traceback" in failed.traceback


def test_that_the_thread_trains_obeys_and_ends(tiny_model, tmp_path):
    steps: queue.Queue[int] = queue.Queue()
    paused: queue.Queue[None] = queue.Queue()

    def watch(event) -> None:
        if isinstance(event, StepCompleted):
            steps.put(event.step)
        if isinstance(event, TrainerStatus) and event.status is RunStatus.PAUSED:
            paused.put(None)

    thread = TrainerThread(tiny_config(tiny_model, steps=100_000), 5, Sink(watch), tmp_path)
    assert thread.run_id == 5
    assert steps.get(timeout=60) == 1
    thread.post(Pause())
    paused.get(timeout=60)
    assert thread.is_running()
    while not steps.empty():
        steps.get()
    thread.post(Resume())
    assert steps.get(timeout=60) > 1
    assert thread.stop(60)
    assert not thread.is_running()
    thread.post(Resume())


def test_that_a_second_trainer_of_a_run_is_refused_and_changes_nothing(tiny_model, tmp_path):
    thread, sink = TrainerThread(tiny_config(tiny_model, steps=100_000), 5, Sink(), tmp_path), Sink()
    with pytest.raises(BadInputError, match="Run 5 is being trained already"):
        TrainerThread(tiny_config(tiny_model), 5, sink, tmp_path)
    assert sink.events == []
    assert thread.stop(60)
    assert TrainerThread(tiny_config(tiny_model), 5, Sink(), tmp_path).stop(60)


def test_that_a_folder_that_cannot_be_written_is_a_run_that_failed(tiny_model, tmp_path):
    (tmp_path / "file").write_text("")
    sink = Sink()
    with pytest.raises(StoreError, match="may not be written"):
        TrainerThread(tiny_config(tiny_model), 5, sink, tmp_path / "file" / "00005")
    assert sink.statuses == [RunStatus.FAILED]


def test_that_a_run_stays_as_it_was_when_it_cannot_be_resumed_in_its_folder(tiny_model, tmp_path):
    (tmp_path / "file").write_text("")
    sink = Sink()
    with pytest.raises(StoreError, match="may not be written"):
        TrainerThread(tiny_config(tiny_model), 5, sink, tmp_path / "file" / "00005", resume=True)
    assert sink.events == []


def test_that_stopping_says_when_it_took_too_long(tiny_model, tmp_path):
    thread = TrainerThread(tiny_config(tiny_model, steps=100_000), 5, Sink(), tmp_path)
    assert not thread.stop(0.0)
    assert thread.stop(60)


@pytest.mark.parametrize(
    "module",
    ["config", "rules", "validation", "presets", "handle", "runner", "thread", "background", "headless", "controls"],
)
def test_that_the_window_can_import_it_without_torch(module: str):
    code = f"import sys, grpo_gui.training.{module}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
