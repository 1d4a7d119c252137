"""`grpo-gui runs` and what it writes, each command in a process of its own."""

import pytest

from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from tests.cli.test_commands import grpo_gui
from tests.store.test_shelf import add_run


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    add_run(writer, name="first")
    add_run(writer, name="second")
    writer.close()
    return path


def test_that_runs_lists_the_runs_as_before(database):
    for arguments in (("runs", "--db", str(database)), ("--db", str(database), "runs")):
        result = grpo_gui(*arguments)
        assert (result.returncode, result.stderr) == (0, "")
        lines = result.stdout.splitlines()
        assert lines[0].split() == ["id", "state", "steps", "reward", "held-out", "started", "name"]
        assert [line.split()[0] for line in lines[1:]] == ["2", "1"]
        assert [line.split()[4] for line in lines[1:]] == ["0.750", "0.750"]  # the reward, as in the Runs view


def test_that_a_run_goes_through_a_file_into_another_database(database, tmp_path):
    file, other = tmp_path / "one.db", tmp_path / "other.db"
    result = grpo_gui("runs", "export", "1", "--to", str(file), "--db", str(database))
    assert result.returncode == 0, result.stderr
    assert "Run 1 is in" in result.stdout
    assert "first" in grpo_gui("runs", "--db", str(file)).stdout
    result = grpo_gui("import", str(file), "--db", str(other))
    assert (result.returncode, result.stdout) == (0, f"Run 1 was imported from {file}.\n")
    result = grpo_gui("import", str(file), "--db", str(other))
    assert "is in the database already; nothing has changed." in result.stdout
    with StoreReader(other) as reader:
        assert [run.name for run in reader.runs()] == ["first"]
    assert grpo_gui("import", str(other), "--db", str(other)).returncode == 2


def test_that_several_runs_go_into_one_table_and_latest_is_the_newest(database, tmp_path):
    table = tmp_path / "curves.csv"
    result = grpo_gui("runs", "export", "1", "latest", "1", "--to", str(table), "--db", str(database))
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("Runs 1, 2 are in")
    assert {line.split(",")[1] for line in table.read_text().splitlines()[1:]} == {"first", "second"}
    page = tmp_path / "report.html"
    assert grpo_gui("runs", "export", "latest", "--to", str(page), "--db", str(database)).returncode == 0
    assert "second" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("7", "--to", "x.csv"), "There is no run 7"),
        (("one", "--to", "x.csv"), "is not the number of a run"),
        (("1", "--to", "x.doc"), "must end in .csv"),
        (("1", "2", "--to", "x.html"), "holds one run"),
    ],
)
def test_that_bad_input_is_one_sentence_and_exit_code_2(database, tmp_path, arguments, sentence):
    changed = [str(tmp_path / one) if one.startswith("x.") else one for one in arguments]
    result = grpo_gui("runs", "export", *changed, "--db", str(database))
    assert result.returncode == 2
    assert result.stderr.startswith("grpo-gui: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.glob("x.*"))
