"""Training with TRL from the command line."""

import json
import math
import signal
import subprocess
import sys

import numpy as np
import pytest

from grpo_gui.cli.trl import StepReports
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import SeriesPoints, StepTotals

TINY = ["--device", "cpu", "--set", "prompts_per_step=2", "--set", "num_generations=4", "--set", "eval_steps=0"]


def train(*arguments):
    command = [sys.executable, "-m", "grpo_gui.cli", "train", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)


def test_that_options_of_trl_without_trl_are_refused(tmp_path):
    result = train("--processes", "2", "--db", str(tmp_path / "runs.db"))
    assert result.returncode == 2
    assert "--with trl" in result.stderr


@pytest.mark.trl
def test_that_what_cannot_be_shared_is_refused_before_a_run_is_made(tmp_path):
    pytest.importorskip("trl")
    result = train("--with", "trl", "--processes", "3", *TINY, "--db", str(tmp_path / "runs.db"))
    assert result.returncode == 2
    assert "cannot be shared evenly by 3 processes" in result.stderr


@pytest.mark.trl
def test_that_a_run_of_trl_prints_a_line_for_each_of_its_steps(tmp_path):
    pytest.importorskip("trl")
    result = train("--with", "trl", "--steps", "2", *TINY, "--json", "--db", str(tmp_path / "runs.db"))
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert {"loss", "kl", "entropy", "grad_norm"} <= lines[0].keys()
    assert "its 4, and the learning rate" in result.stderr
    assert "Run 1 finished." in result.stderr


@pytest.mark.trl
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_that_ctrl_c_ends_the_waiting_for_machines_that_nobody_has_started(tmp_path):
    pytest.importorskip("trl")
    place = ("--with", "trl", "--machines", "2", "--host", "localhost")
    command = [sys.executable, "-m", "grpo_gui.cli", "train", *place, *TINY, "--db", str(tmp_path / "runs.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(line.startswith("torchrun") for line in iter(process.stderr.readline, ""))
        with StoreReader(tmp_path / "runs.db") as reader:
            while not getattr(reader.run(1), "message", "").startswith("Waiting for 2 processes"):
                assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


class FakeReader:
    """A store that grows."""

    def __init__(self):
        self.values: dict[str, dict[int, float]] = {"loss": {}, "eval/reward": {}}

    def series_names(self, run_id):
        return tuple(self.values)

    def points(self, run_id, name, after_step):
        found = {step: value for step, value in self.values[name].items() if step > after_step}
        return SeriesPoints(name, "", np.array([*found], dtype=np.int64), np.array([*found.values()], dtype=np.float64))

    def totals(self, run_id, after_step):
        steps = np.array([step for step in self.values["loss"] if step > after_step], dtype=np.int64)
        times = np.full(len(steps), math.nan)
        return StepTotals(steps, steps, times, steps, steps, np.zeros((len(steps), 27), dtype=np.int64))


def test_that_a_step_is_told_once_with_all_its_numbers():
    reader, told = FakeReader(), []
    reports = StepReports(reader, 1, told.append)
    reports.look()
    reader.values["loss"] |= {1: 0.5}
    reports.look()
    assert not told  # its evaluation may still come
    reader.values["eval/reward"] |= {1: 0.9}
    reader.values["loss"] |= {2: 0.4, 3: 0.3}
    reports.look()
    reports.look()
    assert [(event.step, dict(event.metrics)) for event in told] == [
        (1, {"loss": 0.5, "eval/reward": 0.9}),
        (2, {"loss": 0.4}),
    ]
    reports.look(is_over=True)
    assert told[-1].step == 3
