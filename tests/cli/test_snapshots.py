"""Snapshots on the command line: kill, resume, extend, export, sample; each command in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_gui.cli.main import main
from grpo_gui.paths import run_files_dir
from grpo_gui.snapshots.verifying import verify
from grpo_gui.store.lock import RunClaim
from grpo_gui.store.reader import StoreReader
from tests.cli.test_commands import TINY, grpo_gui, is_timing
from tests.training.fakes import make_tiny_model

STEPS = 20
SMALL = [*TINY, "--seed", "3", "--json", "--set", "eval_steps=5"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(make_tiny_model(tmp_path_factory.mktemp("tiny") / "model"))


@pytest.fixture(scope="module")
def straight(tmp_path_factory, model):
    """A run of 20 steps that was never cut off."""
    database = tmp_path_factory.mktemp("straight") / "runs.db"
    train(database, model, "--set", "save_steps=5")
    return database


def train(database, model, *arguments):
    result = grpo_gui("train", *SMALL, "--model", model, "--steps", str(STEPS), *arguments, "--db", str(database))
    assert result.returncode == 0, result.stderr
    return result


def curves(database, run_id=1):
    """Every stored number of a run but the times, and but what was measured of the snapshots as files: they hold the
    time, and each is compared with the one before of the same process."""
    with StoreReader(database) as reader:
        names = [one for one in reader.series_names(run_id) if not is_timing(one) and not one.startswith("snapshot/")]
        points = [reader.points(run_id, name) for name in names]
        groups = [reader.groups_of_step(run_id, step) for step in range(1, (reader.newest_step(run_id) or 0) + 1)]
    texts = [[sample.text for group in step for sample in group.completions] for step in groups]
    blobs = [[sample.logps for group in step for sample in group.completions] for step in groups]
    return {curve.name: (curve.steps.tolist(), curve.values.tolist()) for curve in points}, texts, blobs


def weights_of(database, run_id, step):
    with StoreReader(database) as reader:
        (path,) = {item.path for item in reader.snapshots(run_id) if item.step == step and not item.superseded}
    return {name: entry.sha256 for name, entry in verify(Path(path)).files.items() if name == "model.safetensors"}


@pytest.mark.skipif(os.name != "posix", reason="processes are killed the POSIX way")
@pytest.mark.parametrize("saves", [["--set", "save_steps=5"], []], ids=["with snapshots", "before any state was saved"])
def test_that_a_run_that_was_killed_goes_on_as_if_nothing_had_happened(tmp_path, model, straight, saves):
    database = tmp_path / "runs.db"
    arguments = ["train", *SMALL, "--model", model, "--steps", "1000000", *saves, "--db", str(database)]
    arguments[arguments.index("1000000")] = str(STEPS)
    process = subprocess.Popen(
        [sys.executable, "-m", "grpo_gui.cli", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        for line in process.stdout:
            if json.loads(line)["step"] == 12:
                process.send_signal(signal.SIGKILL)
                break
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    with StoreReader(database) as reader:
        assert reader.run(1).status.value == "interrupted"
        done = reader.run(1).steps_done
    assert done < STEPS
    result = grpo_gui("resume", "1", "--json", "--db", str(database))
    assert result.returncode == 0, result.stderr
    assert curves(database) == curves(straight)
    assert weights_of(database, 1, STEPS) == weights_of(straight, 1, STEPS)
    with StoreReader(database) as reader:
        assert reader.run(1).status.value == "finished"
        if saves:
            (seam,) = reader.seams(1)
            assert seam.step % 5 == 0


def test_that_a_resume_from_a_snapshot_supersedes_what_came_after_and_repeats_it(tmp_path, model):
    database = tmp_path / "runs.db"
    train(database, model, "--set", "save_steps=5")
    before = curves(database)
    result = grpo_gui("resume", "1", "--step", "10", "--db", str(database))
    assert result.returncode == 0, result.stderr
    assert curves(database) == before
    with StoreReader(database) as reader:
        (old,) = reader.superseded_points(1, "reward")
        assert old.steps.tolist() == list(range(11, STEPS + 1))
        assert [(item.step, item.superseded) for item in reader.snapshots(1)] == [
            (20, False),
            (15, False),
            (10, False),
            (5, False),
            (20, True),
            (15, True),
        ]


def test_that_steps_extends_a_finished_run(tmp_path, model):
    database = tmp_path / "runs.db"
    train(database, model)
    refused = grpo_gui("resume", "1", "--db", str(database))
    assert refused.returncode == 2
    assert "--steps +N" in refused.stderr
    result = grpo_gui("resume", "1", "--steps", "+4", "--json", "--db", str(database))
    assert result.returncode == 0, result.stderr
    assert [json.loads(line)["step"] for line in result.stdout.splitlines()] == [21, 22, 23, 24]
    with StoreReader(database) as reader:
        assert json.loads(reader.run(1).config)["steps"] == 24
        assert reader.newest_step(1) == 24
        (change,) = reader.changes(1)
        assert (change.name, change.old, change.new) == ("steps", 20.0, 24.0)


def test_that_a_run_that_another_trainer_has_is_not_resumed(tmp_path, model):
    database = tmp_path / "runs.db"
    train(database, model)
    with RunClaim(1, run_files_dir(database, 1)) as claim:
        claim.acquire()
        refused = grpo_gui("resume", "1", "--steps", "+4", "--db", str(database))
    assert (refused.returncode, "being trained already" in refused.stderr) == (2, True)
    with StoreReader(database) as reader:
        run = reader.run(1)
    assert (run.status.value, json.loads(run.config)["steps"]) == ("finished", STEPS)


def test_that_an_export_is_written_by_run_or_latest_by_step_or_best(tmp_path, straight):
    for name, arguments in {
        "newest": ["1"],
        "latest": ["latest", "--dtype", "bf16"],
        "ten": ["1", "--step", "10"],
        "best": ["latest", "--step", "best", "--dtype", "fp16"],
    }.items():
        result = grpo_gui("export", *arguments, "--to", str(tmp_path / name), "--db", str(straight))
        assert result.returncode == 0, result.stderr
        assert not verify(tmp_path / name).has_training_state
    assert verify(tmp_path / "ten").step == 10
    assert verify(tmp_path / "latest").step == 20
    again = grpo_gui("export", "1", "--to", str(tmp_path / "ten"), "--db", str(straight))
    assert again.returncode == 2
    assert "is not overwritten" in again.stderr


def test_that_a_snapshot_answers_the_same_for_the_same_seed(tmp_path, straight):
    arguments = ["--prompt", "Which is bigger? 9.11 or 9.9?", "--count", "3", "--seed", "4", "--db", str(straight)]
    by_run = grpo_gui("sample", "1", *arguments)
    assert by_run.returncode == 0, by_run.stderr
    assert len(by_run.stdout.splitlines()) == 3
    assert grpo_gui("sample", "1:20", *arguments).stdout == by_run.stdout
    grpo_gui("export", "1", "--to", str(tmp_path / "out"), "--db", str(straight))
    assert grpo_gui("sample", str(tmp_path / "out"), *arguments).stdout == by_run.stdout
    builtin = grpo_gui("sample", "builtin", "--prompt", "Which is bigger? 9.11 or 9.9?", "--temperature", "0")
    assert builtin.stdout == "9.9\n"


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["export", "7", "--to", "{tmp}/x"], 2, "no run '7'"),
        (["export", "1", "--step", "12", "--to", "{tmp}/x"], 2, "5, 10, 15, 20"),
        (["export", "1", "--step", "many", "--to", "{tmp}/x"], 2, "no snapshot of step many"),
        (["export", "1", "--to", "{tmp}/x", "--dtype", "int8"], 2, "int8"),
        (["resume", "7"], 2, "no run 7"),
        (["resume", "1", "--steps", "few"], 2, "few"),
        (["resume", "1", "--step", "20"], 2, "20 of 20 steps"),
        (["sample", "nowhere", "--prompt", "x"], 2, "no folder 'nowhere'"),
        (["sample", "1:12", "--prompt", "x"], 2, "no snapshot of step 12"),
        (["sample", "1", "--prompt", "x" * 600], 1, "exceeds"),
        (["sample", "1", "--prompt", "x", "--temperature", "-1"], 2, "Temperature"),
        (["sample", "{tmp}/model.pt", "--prompt", "x"], 1, "is a pickle"),
    ],
)
def test_that_what_cannot_be_done_is_one_line(tmp_path, straight, monkeypatch, capsys, arguments, code, named):
    (tmp_path / "model.pt").write_bytes(b"\x80\x02}q\x00.")
    given = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["grpo-gui", *given, "--db", str(straight)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == code
    assert named in printed.err
    assert len(printed.err.strip().splitlines()) == 1
    assert printed.out == ""


def test_that_a_moved_database_finds_its_snapshots(tmp_path, model):
    database = tmp_path / "old" / "runs.db"
    train(database, model)
    (tmp_path / "old").rename(tmp_path / "new")
    result = grpo_gui("export", "latest", "--to", str(tmp_path / "out"), "--db", str(tmp_path / "new" / "runs.db"))
    assert result.returncode == 0, result.stderr
