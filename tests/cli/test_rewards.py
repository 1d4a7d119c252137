from pathlib import Path

import pytest
from click.testing import CliRunner

from grpo_gui.cli.main import cli
from grpo_gui.cli.rewards import rewards_from_files
from grpo_gui.tasks.reward_file import check_reference
from grpo_gui.training.config import RewardSpec


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("grpo_gui.tasks.reward_file.confirmed_files_file", lambda: tmp_path / "confirmed.json")
    path = tmp_path / "mine.py"
    path.write_text(
        "def short(completions): return [-float(len(text)) for text in completions]\n"
        "def inverse(completions): return [1 / len(text) for text in completions]\n"
    )
    return path


def test_that_the_bench_scores_typed_text_and_the_tricks(file: Path) -> None:
    result = CliRunner().invoke(cli, ["rewards", f"{file}:short", "--text", "four"])
    assert result.exit_code == 0
    assert "typed (4 characters): 'four'\n    short: -4" in result.output
    for label in ("empty", "prompt echo", "repeated token", "list of all answers", "very long"):
        assert f"\n{label} (" in result.output


def test_that_a_failing_function_shows_its_traceback_and_ends_with_1(file: Path) -> None:
    result = CliRunner().invoke(cli, ["rewards", f"{file}:inverse"])
    assert result.exit_code == 1
    assert "ZeroDivisionError" in result.output


def test_that_naming_a_file_confirms_it(file: Path) -> None:
    specs = rewards_from_files([f"{file}:short=0.5", f"{file}:inverse"])
    assert specs == (
        RewardSpec("short", "python", 0.5, f"{file}::short"),
        RewardSpec("inverse", "python", 1.0, f"{file}::inverse"),
    )
    assert check_reference(specs[0].argument) is None


def test_that_two_functions_of_one_name_are_told_apart_by_their_files(file: Path) -> None:
    other = file.with_name("other.py")
    other.write_text(file.read_text())
    names = [spec.name for spec in rewards_from_files([f"{file}:short", f"{other}:short"])]
    assert names == ["mine.short", "other.short"]


def test_that_functions_for_chats_are_tried_with_messages(file: Path) -> None:
    file.write_text("def short(completions): return [-len(chat[0]['content']) for chat in completions]\n")
    result = CliRunner().invoke(cli, ["rewards", str(file), "--chat", "--text", "four"])
    assert result.exit_code == 0
    assert "short: -4" in result.output
