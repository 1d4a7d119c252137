"""The command line as a person uses it: in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from grpo_gui.store.writer import StoreWriter

TINY = ["--task", "sort", "--set", "prompts_per_step=2", "--set", "num_generations=4", "--set", "eval_prompts=8"]


def grpo_gui(*arguments, **kwargs):
    return subprocess.run(
        [sys.executable, "-m", "grpo_gui.cli", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        **kwargs,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    database = tmp_path_factory.mktemp("cli") / "runs.db"
    result = grpo_gui("train", *TINY, "--steps", "3", "--seed", "7", "--json", "--db", str(database))
    assert result.returncode == 0, result.stderr
    return database, result


def test_that_json_prints_one_line_per_step_with_the_metric_names(trained):
    lines = [json.loads(line) for line in trained[1].stdout.splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert {"loss", "kl", "reward", "clip_ratio/region_mean", "entropy", "grad_norm", "step_time"} <= set(lines[0])
    assert "eval/accuracy" in lines[-1]


def test_that_the_same_seed_gives_the_same_numbers(trained, tmp_path):
    again = grpo_gui("train", *TINY, "--steps", "3", "--seed", "7", "--json", "--db", str(tmp_path / "again.db"))
    one, two = (
        [
            {name: value for name, value in json.loads(line).items() if not is_timing(name)}
            for line in result.stdout.splitlines()
        ]
        for result in (trained[1], again)
    )
    assert one == two


@pytest.mark.skipif(os.name != "posix", reason="pipes as on Unix are needed")
@pytest.mark.parametrize("form", [["--json"], []], ids=["lines", "bar"])
def test_that_a_run_goes_on_when_nobody_reads_what_it_prints(tmp_path, form):
    database = tmp_path / "runs.db"
    command = ["train", *TINY, "--steps", "4", "--set", "eval_steps=0", *form, "--db", str(database)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([sys.executable, "-m", "grpo_gui.cli", *command], text=True, **pipes) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=120) in (0, 1)  # 1: the last sentence could not be printed
    assert re.search(r"1\s+finished\s+4", grpo_gui("runs", "--db", str(database)).stdout)


def is_timing(name):
    return name.startswith(("time/", "system/", "memory/")) or name in {"step_time", "tokens_per_second"}


def test_that_runs_lists_what_was_trained(trained):
    result = grpo_gui("runs", "--db", str(trained[0]))
    assert result.returncode == 0
    assert re.search(r"1\s+finished\s+3", result.stdout)


def test_that_check_names_versions_and_database(trained):
    result = grpo_gui("check", "--db", str(trained[0]))
    assert result.returncode == 0
    assert "torch 2" in result.stdout
    assert "1 runs" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["train", "--bogus"], "--bogus"),
        (["train", "--steps", "many"], "many"),
        (["train", "--preset", "nope"], "nope"),
        (["train", "--set", "colour=red"], "colour"),
        (["train", "--set", "epsilon"], "epsilon"),
        (["train", "--set", "num_generations=1"], "num_generations"),
        (["train", "--set", "learning_rate=nan"], "learning_rate"),
        (["train", "--device", "toaster"], "toaster"),
        (["train", "--set", "learning_rate=abc"], "a number is needed"),
        (["train", "--task", "no-such-file.jsonl"], "no-such-file.jsonl"),
        (["train", "--task", "nope"], "compare, sort, add, reverse, mix"),
        (["train", "--model", "."], "config.json"),
        (["runs", "--db", "no-such.db"], "no-such.db"),
        (["fly"], "fly"),
    ],
)
def test_that_bad_options_end_in_one_line_and_exit_code_2(arguments, named, tmp_path):
    database = ["--db", str(tmp_path / "runs.db")] if arguments[0] == "train" else []
    result = grpo_gui(*arguments, *database)
    assert result.returncode == 2
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_that_a_bad_row_of_a_data_file_is_wrong_input_and_makes_no_run(tmp_path):
    data = tmp_path / "prompts.jsonl"
    data.write_text('{"prompt": "a", "answer": "b"}\n{"prompt": \n')
    result = grpo_gui("train", "--task", str(data), "--db", str(tmp_path / "runs.db"))
    assert result.returncode == 2
    assert "line 2" in result.stderr
    assert not (tmp_path / "runs.db").exists()


def test_that_a_file_that_is_no_database_is_named_and_left_alone(tmp_path):
    database = tmp_path / "notes.db"
    database.write_text("not a database, but dear to somebody" * 100)
    before = database.read_bytes()
    result = grpo_gui("train", *TINY, "--steps", "1", "--db", str(database))
    assert result.returncode == 1
    assert "notes.db" in result.stderr
    assert database.read_bytes() == before


def test_that_a_run_which_cannot_go_on_by_itself_ends_with_its_reason_and_exit_code_1(tmp_path):
    rewards = tmp_path / "rewards.py"
    rewards.write_text("def broken(prompts, completions, **columns):\n    raise ValueError('no')\n")
    database = tmp_path / "runs.db"
    result = grpo_gui("train", *TINY, "--steps", "3", "--rewards", str(rewards), "--db", str(database))
    assert result.returncode == 1
    assert "raised ValueError: no" in result.stdout
    assert list(tmp_path.glob("runs-runs/00001/**/*.safetensors"))


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
def test_that_ctrl_c_saves_the_state_and_ends_with_130(tmp_path):
    database = tmp_path / "runs.db"
    process = subprocess.Popen(
        [sys.executable, "-m", "grpo_gui.cli", "train", *TINY, "--steps", "100000", "--json", "--db", str(database)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert json.loads(process.stdout.readline())["step"] == 1
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "stopped" in errors
    assert list(tmp_path.glob("runs-runs/00001/**/*.safetensors"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["follow", "ssh://host:99999/run"], "ssh://host:22/path"),
        (["follow", "~no-such-user/run"], "cannot be followed"),
        (["import", "~no-such-user/run"], "cannot be found"),
        (["train", "--with", "trl", "--device", "cuda:99", "--steps", "1"], "cuda:99"),
        (["router", "evaluate", "no.csv", "--first-seed", "-3"], "--first-seed"),
    ],
)
def test_that_places_and_devices_that_cannot_be_are_bad_input(arguments, named, tmp_path):
    database = [] if arguments[0] == "router" else ["--db", str(tmp_path / "runs.db")]
    result = grpo_gui(*arguments, *database)
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_that_a_run_of_an_impossible_number_is_not_there(tmp_path):
    database = tmp_path / "runs.db"
    StoreWriter.open(database).close()
    result = grpo_gui("resume", "9" * 30, "--db", str(database))
    assert result.returncode == 2
    assert "There is no run" in result.stderr
