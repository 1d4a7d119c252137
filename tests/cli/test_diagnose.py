import json

import pytest
from click.testing import CliRunner

from grpo_gui.cli.main import cli
from grpo_gui.errors import BadInputError
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import new_run, step


@pytest.fixture
def database(tmp_path):
    """Run 1 is fine; run 2 runs away."""
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    for kl in (0.01, 3.0):
        run_id = writer.create_run(new_run(name=f"kl {kl}"))
        for number in range(1, 31):
            metrics = (("reward", 0.5), ("kl", kl), ("step_time", 1.0))
            writer.emit(step(run_id, number, metrics=metrics, groups=()))
    assert writer.flush()
    writer.close()
    return path


def run(*arguments):
    return CliRunner().invoke(cli, ["diagnose", *map(str, arguments)])


def test_that_a_run_without_findings_ends_with_zero(database):
    result = run(1, "--db", database)
    assert result.exit_code == 0
    assert result.output.startswith("Run 1, kl 0.01, 30 steps: no findings.")


def test_that_findings_end_with_one_and_are_explained(database):
    result = run(2, "--db", database)
    assert result.exit_code == 1
    assert "Running away (severe, since step 10)" in result.output
    assert "What to do: Go back to a snapshot from before this step" in result.output
    assert "Not judged (not recorded by this run)" in result.output


def test_that_a_database_stands_for_its_newest_run(database):
    assert "Run 2" in run(database).output


def test_that_json_holds_everything(database):
    result = run(2, "--db", database, "--json")
    assert result.exit_code == 1
    document = json.loads(result.output)
    (finding,) = (one for one in document["findings"] if one["state"] == "open")
    assert (finding["detector"], finding["onset"], finding["muted"]) == ("kl_runaway", 10, False)
    assert document["steps"] == 30
    assert document["not_judged"]["truncation"] == "not recorded by this run"


def test_that_a_muted_finding_does_not_count(database):
    writer = StoreWriter.open(database)
    writer.mute_finding(2, "kl_runaway")
    writer.close()
    result = run(2, "--db", database)
    assert result.exit_code == 0
    assert "Muted: running away, since step 10." in result.output


def test_that_a_file_of_metrics_is_diagnosed(tmp_path):
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"log_history": [{"step": n, "kl": 2.0, "reward": 0.1} for n in range(1, 40)]}))
    result = run(path)
    assert result.exit_code == 1
    assert f"{tmp_path.name}, 39 steps: 1 finding." in result.output


@pytest.mark.parametrize("target", ["99", "no/such/file", "."])
def test_that_what_cannot_be_diagnosed_is_bad_input(database, target):
    result = run(target, "--db", database)
    assert isinstance(result.exception, BadInputError)


def test_that_a_missing_database_is_bad_input(tmp_path):
    assert isinstance(run(1, "--db", tmp_path / "none.db").exception, BadInputError)


def test_that_an_empty_database_is_bad_input(tmp_path):
    StoreWriter.open(tmp_path / "a.db").close()
    assert isinstance(run(tmp_path / "a.db").exception, BadInputError)
