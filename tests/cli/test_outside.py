import json

import pytest
from click.testing import CliRunner

from grpo_gui.cli.main import cli
from grpo_gui.errors import BadInputError
from grpo_gui.store.reader import StoreReader


def run(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "run/log.jsonl"
    path.parent.mkdir()
    path.write_text('{"step": 1, "reward": 0.5}\n{broken\n{"step": 2, "reward": 0.75}\n')
    return path


def test_that_import_says_what_came_and_what_was_left_out(tmp_path, log):
    database = tmp_path / "new/a.db"
    result = run("import", log.parent, "--db", database)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == f"Run 1 was imported from {log.parent}: 2 logged steps, 0 completions."
    assert lines[1] == "It holds steps up to 2. Its files hold no completions."
    assert lines[2].startswith("Left out: log.jsonl, line 2: no JSON")
    again = run("import", log.parent, "--db", database)
    assert again.output.startswith(f"Run 1 holds {log.parent} already; nothing has changed.")


def test_that_a_place_without_a_run_is_bad_input(tmp_path):
    result = run("import", tmp_path / "nothing", "--db", tmp_path / "a.db")
    assert isinstance(result.exception, BadInputError)


def test_that_follow_ends_with_the_run(tmp_path):
    folder = tmp_path / "run/grpo_gui"
    folder.mkdir(parents=True)
    line = {"v": 1, "rank": 0, "session": "s", "time": 1.0}
    events = [
        {**line, "seq": 0, "kind": "metrics", "step": 1, "values": {"reward": 0.5}},
        {**line, "seq": 1, "kind": "end", "step": 1, "status": "finished"},
    ]
    (folder / "rank0.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    database = tmp_path / "a.db"
    result = run("follow", tmp_path / "run", "--db", database)
    assert result.exit_code == 0, result.output
    assert "Run 1: finished, step 1. It holds steps up to 1." in result.output
    with StoreReader(database) as reader:
        assert reader.points(1, "reward").values.tolist() == [0.5]


def test_that_a_place_that_cannot_be_followed_is_bad_input(tmp_path):
    result = run("follow", "ftp://host/run", "--db", tmp_path / "a.db")
    assert isinstance(result.exception, BadInputError)


def test_that_an_imported_folder_is_diagnosed(log):
    result = run("diagnose", log.parent)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("run, 2 steps: no findings.")
