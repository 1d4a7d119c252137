import json

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.data_preview import preview_data
from tests.language.hf_models import make_hf_model


@pytest.fixture
def file(tmp_path):
    rows = [{"prompt": f"{number}+1?", "answer": str(number + 1)} for number in range(5)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "a.jsonl"


def test_that_the_first_rows_are_shown_for_the_built_in_model(file):
    preview = preview_data(TrainConfig(task="file", prompt_file=str(file)), rows=2)
    assert preview.count == 5
    assert [(row.text, row.answer, row.tokens, row.cut) for row in preview.rows] == [
        ("<bos>0+1?\n", "1", 6, 0),
        ("<bos>1+1?\n", "2", 6, 0),
    ]


@pytest.mark.hf
def test_that_the_template_and_the_cut_are_shown(file, tmp_path):
    pytest.importorskip("transformers", reason="needs the extra hf")
    model = make_hf_model(tmp_path / "model", max_position_embeddings=32)
    config = TrainConfig(task="file", prompt_file=str(file), model=str(model), max_completion_length=12)
    (row,) = preview_data(config, rows=1).rows
    assert row.text == "[user]0+1?\n[assistant]"[-20:]
    assert (row.tokens, row.cut) == (20, 2)


def test_that_bad_rows_are_told(file):
    file.write_text(file.read_text() + "\nx\n")
    with pytest.raises(BadInputError, match="line 6 is not JSON"):
        preview_data(TrainConfig(task="file", prompt_file=str(file), rewards=(RewardSpec("exact", "exact"),)))
