"""`grpo-gui router` as a person uses it."""

import json
import random
import subprocess
import sys

import pytest

from grpo_gui.router.context import context_from_text
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.scorer import NetworkScorer
from grpo_gui.store.writer import StoreWriter

NETWORK = NetworkScorer("hashed n-grams", ["a", "b"], 1.0, []).to_bytes()


def router(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "grpo_gui.cli", "router", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    policy = RouterPolicy(seed=2, record=writer.append_router)
    generator = random.Random(0)
    for _ in range(12):
        made = policy.propose(context_from_text("hello"), ["a", "b"])
        policy.rate(made.decision, {model: generator.random() for model in made.asked})
    writer.close()
    return path


@pytest.fixture
def csv_file(tmp_path):
    generator = random.Random(1)
    lines = ["query,class,a,b,a:cost"]
    for number in range(80):
        name = generator.choice("xy")
        good, bad = float(generator.random() < 0.9), float(generator.random() < 0.2)
        a, b = (good, bad) if name == "x" else (bad, good)
        lines.append(f"query {number},{name},{a},{b},0.1")
    path = tmp_path / "rewards.csv"
    path.write_text("\n".join(lines))
    return path


def test_that_evaluate_prints_a_table(csv_file):
    result = router("evaluate", csv_file, "--seeds", "2")
    assert result.returncode == 0, result.stderr
    assert "80 queries, 2 models, 2 classes, 2 seeds" in result.stdout
    for name in ("this router", "random", "best single", "epsilon greedy", "ucb1", "thompson"):
        assert name in result.stdout


def test_that_evaluate_prints_json_with_the_documented_keys(csv_file):
    result = router("evaluate", csv_file, "--seeds", "2", "--json")
    figures = json.loads(result.stdout)
    assert {"accuracy", "regret", "baselines"} <= set(figures)
    assert set(figures["baselines"]) == {"random", "best_single", "epsilon_greedy", "ucb1", "thompson"}
    again = json.loads(router("evaluate", csv_file, "--seeds", "1", "--first-seed", "1", "--json").stdout)
    assert again["regret"]["per_seed"] == figures["regret"]["per_seed"][1:]


def test_that_a_bad_file_ends_with_one_line_and_code_2(tmp_path):
    result = router("evaluate", tmp_path / "none.csv")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "none.csv cannot be read" in result.stderr


def test_that_replay_says_that_the_log_reproduces_what_was_learned(database):
    result = router("replay", "--db", database)
    assert result.returncode == 0, result.stderr
    assert "12 decisions, 24 ratings" in result.stdout
    assert "reproduces what was learned exactly" in result.stdout


def test_that_an_exported_table_is_imported_elsewhere(database, tmp_path):
    file = tmp_path / "table.json"
    assert router("export", file, "--db", database).returncode == 0
    other = tmp_path / "b.db"
    result = router("import", file, "--db", other)
    assert result.returncode == 0, result.stderr
    again = tmp_path / "again.json"
    assert router("export", again, "--db", other).returncode == 0
    assert again.read_bytes() == file.read_bytes()
    assert "reproduces" in router("replay", "--db", other).stdout
    twice = router("import", file, "--db", other)
    assert (twice.returncode, "before the first decision" in twice.stderr) == (2, True)


def test_that_a_network_beside_the_table_is_imported_and_exported(database, tmp_path):
    file = tmp_path / "table.json"
    router("export", file, "--db", database)
    file.with_suffix(".safetensors").write_bytes(NETWORK)
    other = tmp_path / "b.db"
    result = router("import", file, "--db", other)
    assert "network 1" in result.stdout, result.stderr
    again = tmp_path / "again.json"
    router("export", again, "--db", other)
    assert again.with_suffix(".safetensors").read_bytes() == NETWORK


def test_that_a_damaged_network_leaves_no_trace_and_the_whole_one_is_taken_afterwards(database, tmp_path):
    file, other = tmp_path / "table.json", tmp_path / "b.db"
    router("export", file, "--db", database)
    file.with_suffix(".safetensors").write_bytes(NETWORK[:-3])
    refused = router("import", file, "--db", other)
    assert (refused.returncode, refused.stderr.count("\n"), other.exists()) == (2, 1, False)
    file.with_suffix(".safetensors").write_bytes(NETWORK)
    assert "network 1" in router("import", file, "--db", other).stdout


def test_that_a_file_that_is_no_table_leaves_no_trace(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    result = router("import", bad, "--db", tmp_path / "b.db")
    assert (result.returncode, "not a table of the router" in result.stderr) == (2, True)
    assert not (tmp_path / "b.db").exists()


def test_that_a_router_that_decided_nothing_has_nothing_to_replay(tmp_path):
    StoreWriter.open(tmp_path / "b.db").close()
    empty = router("replay", "--db", tmp_path / "b.db")
    assert (empty.returncode, "decided nothing yet" in empty.stderr) == (2, True)
