"""What a headless run prints of its findings."""

import os
import subprocess
import sys
from pathlib import Path

from grpo_gui.cli.findings import live_line, summary_lines
from grpo_gui.diagnose.finding import FindingState
from tests.ui.broken_run import finding

ROOT = Path(__file__).parents[2]
NONSENSE = "The reward pays for a very long answer."


def test_that_a_finding_is_a_line_with_the_step_at_which_it_was_said():
    line = live_line(finding())
    assert line == "step 9: dead groups (warning). 62 % of the groups in the last 20 steps taught nothing."


def test_that_the_summary_has_what_to_do_and_leaves_symptoms_out():
    closed = finding("copies", title="Copies", state=FindingState.CLOSED)
    symptom = finding("small_batch", title="Few answers count", root="dead_groups", state=FindingState.SYMPTOM)
    lines = list(summary_lines((finding(), closed, symptom), 7))
    assert lines[0] == "2 findings:"
    assert lines[1].startswith("  Dead groups (warning, since step 5). 62 %")
    assert lines[2] == "    What to do: Sample 16 answers for each prompt."
    assert lines[3].startswith("  Copies (warning, since step 5, closed since).")
    assert lines[-1] == "`grpo-gui diagnose 7` says more."
    assert list(summary_lines((symptom,), 7)) == []


def test_that_a_run_without_window_prints_its_finding_and_stores_it(tmp_path):
    database = str(tmp_path / "a.db")

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "grpo_gui.cli", *words, "--db", database],
            cwd=tmp_path,
            env=dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1", HOME=str(tmp_path)),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    trained = run("train", "--preset", "lesson-hackable-reward", "--steps", "2")
    assert trained.returncode == 0, trained.stderr
    assert f"step 1: nonsense is paid (warning). {NONSENSE}" in trained.stdout + trained.stderr
    assert "What to do: Change the reward so that a very long answer earns nothing" in trained.stdout
    diagnosed = run("diagnose", "1")
    assert diagnosed.returncode == 1
    assert NONSENSE in diagnosed.stdout
