"""`grpo-gui ratings` as a person uses it."""

import json
import subprocess
import sys

import pytest

from tests.training.test_rating_files import RATINGS, fill


def ratings(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "grpo_gui.cli", "ratings", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def database(tmp_path):
    fill(tmp_path / "a.db", RATINGS)
    return tmp_path / "a.db"


def test_that_ratings_go_out_and_come_in(database, tmp_path):
    done = ratings("export", 1, tmp_path / "log.jsonl", "--db", database)
    assert (done.returncode, done.stdout) == (0, f"9 entries of the log are in {tmp_path / 'log.jsonl'}.\n")
    fill(tmp_path / "b.db")
    done = ratings("import", 1, tmp_path / "log.jsonl", "--db", tmp_path / "b.db")
    assert (done.returncode, done.stdout) == (0, "9 entries were taken over.\n")


def test_that_the_format_is_chosen(database, tmp_path):
    done = ratings("export", 1, tmp_path / "pairs.jsonl", "--format", "pairs", "--db", database)
    assert done.returncode == 0
    first = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert list(json.loads(first)) == ["prompt", "chosen", "rejected"]


def test_that_a_run_that_is_not_there_is_bad_input(database, tmp_path):
    done = ratings("export", 7, tmp_path / "log.jsonl", "--db", database)
    assert done.returncode == 2
    assert "There is no run 7" in done.stderr
