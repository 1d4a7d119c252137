import json
from pathlib import Path

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import TrainConfig
from grpo_gui.ui.models.prompt_copy import copy_without

ROWS = (
    {"prompt": "2 + 2?", "answer": "4", "level": 1},
    {"prompt": "Wie groß ist π?", "answer": "3.14", "level": 2},
    {"prompt": [{"role": "user", "content": "Say hi"}], "answer": "hi", "level": 3},
)


@pytest.fixture
def config(tmp_path):
    source = tmp_path / "data.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return TrainConfig(task="file", prompt_file=str(source))


def test_that_the_copy_holds_everything_but_what_is_left_out(config, tmp_path):
    target = tmp_path / "shorter.jsonl"
    changed = copy_without(config, target, {"2 + 2?"})
    rows = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert rows == list(ROWS[1:])
    assert changed.prompt_file == str(target)


def test_that_the_data_file_itself_is_never_overwritten(config):
    with pytest.raises(BadInputError, match="choose another name"):
        copy_without(config, Path(config.prompt_file), {"2 + 2?"})


def test_that_a_copy_without_any_prompt_is_refused(config, tmp_path):
    prompts = {"2 + 2?", "Wie groß ist π?", "Say hi", "user: Say hi"}
    with pytest.raises(BadInputError, match="would be left"):
        copy_without(config, tmp_path / "none.jsonl", prompts)


def test_that_a_folder_which_is_not_there_is_said(config, tmp_path):
    with pytest.raises(BadInputError, match="cannot be written"):
        copy_without(config, tmp_path / "nowhere" / "a.jsonl", set())
