import json

import pytest

from grpo_gui.diagnose.metric_rows import diagnose_rows
from grpo_gui.errors import BadInputError
from grpo_gui.outside.diagnosing import read_run
from tests.outside.conftest import DATA


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def records(steps=40, **values):
    return [{"step": step, "loss": 0.1, "kl": 2.0, "reward": 0.3, **values} for step in range(1, steps + 1)]


def test_that_a_trainer_state_is_read(tmp_path):
    state = {"log_history": [*records(), {"step": 40, "eval_reward": 0.2}, {"train_runtime": 3.0}], "max_steps": 100}
    run = read_run(written(tmp_path, "trainer_state.json", json.dumps(state)))
    assert len(run.rows()) == 41
    assert run.rows()[-1].metrics == {"eval/reward": 0.2}
    assert run.facts.steps == 100
    assert [finding.detector for finding in diagnose_rows(run).findings] == ["kl_runaway"]


def test_that_json_lines_and_arrays_are_read(tmp_path):
    lines = "\n".join(json.dumps(record) for record in records())
    array = json.dumps(records())
    for name, text in (("a.jsonl", lines), ("b.json", array)):
        assert len(read_run(written(tmp_path, name, text)).rows()) == 40


def test_that_csv_with_gaps_is_read(tmp_path):
    text = "global_step,train/reward,kl,name\n10,0.5,,a\n20,0.6,0.1,b\n,0.7,0.2,c\n"
    rows = read_run(written(tmp_path, "a.csv", text)).rows()
    assert [(row.step, dict(row.metrics)) for row in rows] == [(10, {"reward": 0.5}), (20, {"reward": 0.6, "kl": 0.1})]


def test_that_nan_in_a_file_is_kept_as_such(tmp_path):
    (row,) = read_run(written(tmp_path, "a.jsonl", '{"step": 1, "loss": NaN, "reward": 1.0}')).rows()
    assert row.metrics["loss"] != row.metrics["loss"]


def test_that_a_folder_brings_its_samples(tmp_path):
    run = read_run(DATA / "trl_two")
    assert [(row.step, len(row.groups)) for row in run.rows()] == [(1, 2), (2, 0), (3, 2), (4, 0), (5, 2), (6, 0)]
    assert run.facts.num_generations == 4


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1, 2]", '{"log_history": []}', '{"step": 1, "name": "a"}'])
def test_that_files_without_metrics_are_bad_input(tmp_path, text):
    with pytest.raises(BadInputError):
        read_run(written(tmp_path, "a.json", text))


def test_that_a_table_without_metrics_and_what_is_no_text_are_bad_input(tmp_path):
    with pytest.raises(BadInputError, match="no kind that can be read"):
        read_run(written(tmp_path, "a.csv", "step\n1\n"))
    binary = tmp_path / "b.csv"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(BadInputError, match="no kind that can be read"):
        read_run(binary)
