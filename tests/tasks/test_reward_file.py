from pathlib import Path

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.tasks.reward_file import (
    check_reference,
    confirm,
    confirmed_sha256,
    function_names,
    parse_choice,
    parse_reference,
)

SOURCE = """
import math

LIMIT = 3

def short(prompts, completions, **columns):
    return [1.0 for _ in completions]

async def asked(*, completions):
    return [None for _ in completions]

def _helper(completions):
    return []

def other(text):
    return text

class Judge:
    def scores(self, completions):
        return []
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rewards.py"
    path.write_text(SOURCE)
    return path


def test_that_the_reward_functions_of_a_file_are_found_without_running_it(file: Path) -> None:
    file.write_text(SOURCE + "\nraise SystemExit('this was run')\n")
    assert function_names(file) == ["short", "asked"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("def broken(:\n", "line 1 is not Python"), ("x = 1\n", "holds no reward function"), ("\0", "not Python")],
)
def test_that_a_file_without_a_reward_function_is_refused_with_a_sentence(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(BadInputError, match=said):
        function_names(file)


def test_that_only_python_files_up_to_a_megabyte_are_read(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"ends in \.py"):
        function_names(tmp_path / "rewards.txt")
    with pytest.raises(BadInputError, match="cannot be read"):
        function_names(tmp_path / "missing.py")
    (tmp_path / "long.py").write_bytes(b"#" * 1_000_001)
    with pytest.raises(BadInputError, match="longer than 1 MB"):
        function_names(tmp_path / "long.py")


def test_that_a_file_must_be_confirmed_and_again_after_a_change(file: Path) -> None:
    reference = f"{file}::short"
    assert "confirm it first" in (check_reference(reference) or "")
    confirm(file)
    assert check_reference(reference) is None
    file.write_text(SOURCE + "\n# another version\n")
    assert "changed since you confirmed" in (check_reference(reference) or "")
    with pytest.raises(BadInputError, match="changed"):
        confirmed_sha256(file)


def test_that_a_damaged_list_of_confirmations_confirms_nothing(file: Path, own_confirmations: Path) -> None:
    confirm(file)
    own_confirmations.write_text("[")
    with pytest.raises(BadInputError, match="confirm it first"):
        confirmed_sha256(file)


def test_that_a_function_that_the_file_lacks_is_named(file: Path) -> None:
    confirm(file)
    assert "has no reward function 'lon', only short, asked" in (check_reference(f"{file}::lon") or "")
    assert "FILE.py::function" in (check_reference("short") or "")


def test_that_a_choice_on_the_command_line_names_one_function_with_its_weight_or_all(file: Path) -> None:
    assert [(str(reference), weight) for reference, weight in parse_choice(f"{file}:short=0.5")] == [
        (f"{file}::short", 0.5)
    ]
    assert [(reference.function, weight) for reference, weight in parse_choice(str(file))] == [
        ("short", 1.0),
        ("asked", 1.0),
    ]
    for text, said in ((f"{file}:short=much", "no number"), (f"{file}:lon", "no reward function")):
        with pytest.raises(BadInputError, match=said):
            parse_choice(text)


def test_that_a_reference_reads_back_from_its_text() -> None:
    assert str(parse_reference("a/b.py::c")) == str(Path("a/b.py")) + "::c"
