import json
import math
import subprocess
import sys
from contextlib import contextmanager

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.events import RunStatus
from grpo_gui.exports.writing import export_runs
from grpo_gui.outside.following import Follower
from grpo_gui.outside.importing import import_path
from grpo_gui.outside.pieces import OutsideError
from grpo_gui.outside.places import LocalPlace
from grpo_gui.store.records import CompletionQuery
from tests.outside.conftest import DATA, import_one, write_lines
from tests.store import samples


def log_rows(path):
    return [row for row in json.loads(path.read_text())["log_history"] if "reward" in row]


def test_that_a_trl_folder_becomes_a_run_with_every_logged_number(writer, reader):
    report = import_one(DATA / "trl_run", writer)
    run = reader.run(report.run_id)
    assert (run.origin, run.status, run.name, run.steps_done) == ("imported", RunStatus.FINISHED, "trl_run", 3)
    rows = log_rows(DATA / "trl_run/checkpoint-3/trainer_state.json")
    for name in set(rows[0]) - {"step"}:
        assert reader.points(run.id, name).values.tolist() == [row[name] for row in rows], name
    assert reader.raw_names(run.id)["eval/reward"] == "eval_reward"
    assert reader.points(run.id, "loss").definition_id == "trl/loss/1"
    assert reader.points(run.id, "reward").definition_id == "grpo-gui/reward/1"


def test_that_groups_are_rebuilt_and_advantages_compared(writer, reader):
    report = import_one(DATA / "trl_run", writer)
    groups = reader.groups_of_step(report.run_id, 1)
    assert [len(group.completions) for group in groups] == [8, 8]
    assert groups[0].prompt == "9+4="
    first = groups[0].completions[0]
    assert first.rewards == (("digit_reward", 0.0), ("length_reward", -0.800000011920929))
    assert first.reward == pytest.approx(-0.4)  # the weights 1 and 0.5 follow from the logged means
    assert math.fsum(sample.advantage for sample in groups[0].completions) == pytest.approx(0, abs=1e-5)
    assert "agree with those computed from the rewards (scale_rewards group)" in report.summary


def test_that_a_file_that_an_evaluation_overwrote_is_recognised(writer, reader):
    report = import_one(DATA / "trl_run", writer)
    assert "The completions of step 3 were overwritten by an evaluation." in report.summary
    assert reader.groups_of_step(report.run_id, 3) == ()


def test_that_repeated_files_of_inner_updates_are_taken_once(writer, reader):
    report = import_one(DATA / "trl_two", writer)
    assert "3 files repeated the completions of the step before" in report.summary
    assert [len(reader.groups_of_step(report.run_id, step)) for step in range(1, 7)] == [2, 0, 2, 0, 2, 0]
    assert reader.run(report.run_id).seed == 3  # from the arguments that TensorBoard holds


def test_that_the_line_says_what_was_never_written(writer):
    report = import_one(DATA / "trl_tens", writer)
    assert "18 of 20 batches of completions were never written by this run's settings (logging_steps is 10)." in (
        report.summary
    )


def test_that_importing_twice_changes_nothing(writer, reader):
    first = import_one(DATA / "trl_two", writer)
    before = (reader.run(first.run_id), reader.totals(first.run_id).samples.tolist())
    second = import_one(DATA / "trl_two", writer)
    assert (second.run_id, second.is_new, second.has_changed) == (first.run_id, False, False)
    assert before == (reader.run(first.run_id), reader.totals(first.run_id).samples.tolist())
    assert len(reader.runs()) == 1


def test_that_a_copy_elsewhere_is_the_same_run(writer, copied):
    first = import_one(DATA / "trl_two", writer)
    assert import_one(copied("trl_two"), writer).run_id == first.run_id


def test_that_a_run_that_went_on_gets_only_what_is_new(writer, reader, tmp_path):
    path = write_lines(tmp_path / "log.jsonl", [{"step": n, "reward": n / 10} for n in (1, 2)])
    first = import_one(path, writer)
    write_lines(path, [{"step": 3, "reward": 0.3}], "a")
    second = import_one(path, writer)
    assert (second.run_id, second.is_new, second.has_changed) == (first.run_id, False, True)
    assert reader.points(first.run_id, "reward").values.tolist() == [0.1, 0.2, 0.3]


def test_that_a_run_that_was_done_anew_puts_its_old_steps_aside(writer, reader, tmp_path):
    path = write_lines(tmp_path / "log.jsonl", [{"step": n, "reward": 0.5} for n in (1, 2, 3)])
    run_id = import_one(path, writer).run_id
    write_lines(path, [{"step": n, "reward": value} for n, value in ((1, 0.5), (2, 0.9))])
    import_one(path, writer)
    assert reader.points(run_id, "reward").values.tolist() == [0.5, 0.9]


def test_that_the_same_numbers_in_tensorboard_and_in_a_checkpoint_make_one_curve(writer, reader, copied):
    folder = copied("trl_two")
    rows = log_rows(folder / "checkpoint-6/trainer_state.json")
    (folder / "checkpoint-6/trainer_state.json").unlink()
    (folder / "checkpoint-3/trainer_state.json").unlink()
    run_id = import_one(folder, writer).run_id
    points = reader.points(run_id, "reward")
    assert points.steps.tolist() == [row["step"] for row in rows]
    assert points.values.tolist() == pytest.approx([row["reward"] for row in rows], rel=1e-6)
    assert reader.raw_names(run_id)["reward"] == "train/reward"


def test_that_a_bare_trainer_state_is_a_run(writer, reader):
    report = import_one(DATA / "trl_two/checkpoint-3/trainer_state.json", writer)
    run = reader.run(report.run_id)
    assert (run.name, run.status, run.steps_done) == ("trl_two", RunStatus.STOPPED, 3)
    assert report.summary == "It stands at step 3 of 6. Its files hold no completions."


def test_that_a_tensorboard_folder_with_several_runs_is_several_runs(writer, copied, tmp_path):
    events = next((DATA / "trl_two/runs/first").iterdir())
    for name in ("one", "two"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        (tmp_path / "logs" / name / events.name).write_bytes(events.read_bytes() + b"" * (name == "two"))
    with (tmp_path / "logs/two" / events.name).open("ab") as file:
        file.write(b"torn")
    first, second = import_path(tmp_path / "logs", writer)
    assert first.run_id != second.run_id
    assert (first.problems, second.steps) == ((), 6)
    assert second.problems[0].endswith("the last record is cut off.")


def verl_run(folder):
    write_lines(
        folder / "log.jsonl",
        [
            {"step": n, "data": {"critic/score/mean": n / 4, "actor/pg_clipfrac": 0.1, "actor/pg_clipfrac_lower": 0.2}}
            for n in (1, 2)
        ],
    )
    for step in (1, 2):
        rows = [
            {
                "input": f"q{i % 2}",
                "output": f"a{i}",
                "gts": "4",
                "score": float(i < 2),
                "step": step,
                "uid": i % 2,
            }
            for i in range(4)
        ]
        write_lines(folder / f"rollout_data/{step}.jsonl", rows)
    return folder


def test_that_verl_logs_and_rollouts_are_one_run(writer, reader, tmp_path):
    report = import_one(verl_run(tmp_path / "verl"), writer)
    run_id = report.run_id
    assert reader.points(run_id, "reward").values.tolist() == [0.25, 0.5]
    assert reader.points(run_id, "clip_ratio/region_mean").definition_id == "verl/actor/pg_clipfrac/1"
    assert reader.points(run_id, "actor/pg_clipfrac_lower").values.tolist() == [0.2, 0.2]  # dual clip keeps its name
    first, second = reader.groups_of_step(run_id, 1)
    assert [(sample.text, sample.reward) for sample in first.completions] == [("a0", 1.0), ("a2", 0.0)]
    assert first.answer == "4"
    scale = 0.5 / (math.sqrt(0.5) + 1e-6)
    assert [sample.advantage for sample in second.completions] == pytest.approx([scale, -scale])
    assert "The file holds no advantages; they were computed from the rewards." in report.summary


def test_that_a_half_written_last_line_of_a_rollout_costs_that_line_only(writer, reader, tmp_path):
    folder = verl_run(tmp_path / "verl")
    path = folder / "rollout_data/2.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    report = import_one(folder, writer)
    assert report.problems == ("rollout_data/2.jsonl, line 4: it was never written to its end.",)
    groups = reader.groups_of_step(report.run_id, 2)
    assert [[sample.text for sample in group.completions] for group in groups] == [["a0", "a2"], ["a1"]]


def test_that_a_broken_line_inside_a_rollout_is_named(writer, reader, tmp_path):
    folder = verl_run(tmp_path / "verl")
    path = folder / "rollout_data/2.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"input": "q1"', b'"input": q1', 1))
    report = import_one(folder, writer)
    assert report.problems[0].startswith("rollout_data/2.jsonl, line 2: no JSON")
    assert len(reader.groups_of_step(report.run_id, 2)) == 2


def test_that_tables_of_completions_are_read(writer, reader, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        'step,prompt,completion,reward,advantage\n1,p,"a, b",1,0.7071\n1,p,c,0,-0.7071\n2,q,d,0,0\n2,q,e,0,0\n',
        encoding="utf-8",
    )
    run_id = import_one(path, writer).run_id
    page = reader.completion_page(CompletionQuery(run_id, sort="oldest"))
    assert [(row.ref.group.step, row.prompt, row.text, row.reward) for row in page.rows] == [
        (1, "p", "a, b", 1.0),
        (1, "p", "c", 0.0),
        (2, "q", "d", 0.0),
        (2, "q", "e", 0.0),
    ]


def test_that_lines_with_columns_of_a_whole_step_are_read(writer, reader, tmp_path):
    record = {"step": ["5", "5"], "prompt": ["p", "p"], "completion": ["a", "b"], "accuracy": [1.0, 0.0]}
    run_id = import_one(write_lines(tmp_path / "completions.jsonl", [record]), writer).run_id
    (group,) = reader.groups_of_step(run_id, 5)
    assert [sample.rewards for sample in group.completions] == [(("accuracy", 1.0),), (("accuracy", 0.0),)]


def test_that_chat_messages_become_text(writer, reader, tmp_path):
    record = {
        "step": 1,
        "prompt": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
        "completion": [{"role": "assistant", "content": "a"}],
        "reward": 1,
    }
    run_id = import_one(write_lines(tmp_path / "a.jsonl", [record, record]), writer).run_id
    (group,) = reader.groups_of_step(run_id, 1)
    assert (group.prompt, group.completions[0].text) == ("system: s\nuser: q", "a")


def test_that_a_broken_file_is_named_and_the_rest_imported(writer, reader, copied):
    folder = copied("trl_run")
    (folder / "completions/completions_00001.parquet").write_bytes(b"PAR1 broken")
    report = import_one(folder, writer)
    assert report.problems[0].startswith("completions/completions_00001.parquet: it cannot be read as parquet")
    assert reader.points(report.run_id, "reward").steps.tolist() == [1, 2, 3]
    assert [len(reader.groups_of_step(report.run_id, step)) for step in (1, 2)] == [0, 2]


def test_that_a_broken_line_is_named_by_its_number(writer, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"step": 1, "reward": 1}\n{broken\n{"step": 2, "reward": 1}\n', encoding="utf-8")
    report = import_one(path, writer)
    assert report.steps == 2
    assert report.problems[0].startswith("a.jsonl, line 2: no JSON")


def test_that_nothing_is_unpickled(writer, copied):
    folder = copied("trl_run")
    bomb = b"cos\nsystem\n(S'touch " + str(folder / "boom").encode() + b"'\ntR."
    for name in ("training_args.bin", "optimizer.pt", "data.pkl"):
        (folder / "checkpoint-3" / name).write_bytes(bomb)
    import_one(folder, writer)
    assert not (folder / "boom").exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1, 2]", '{"log_history": []}', '{"step": 1, "name": "a"}'])
def test_that_files_without_metrics_are_bad_input(writer, reader, tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError):
        import_one(path, writer)
    assert reader.runs() == ()


def test_that_a_place_without_a_run_is_bad_input(writer, tmp_path):
    with pytest.raises(OutsideError, match="is not there"):
        import_one(tmp_path / "nothing", writer)
    (tmp_path / "empty").mkdir()
    with pytest.raises(OutsideError, match="holds no run"):
        import_one(tmp_path / "empty", writer)


def test_that_a_cancelled_import_is_finished_by_the_next_one(writer, reader, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"step": n, "reward": 1.0} for n in range(1, 1001)])
    steps = []
    report = import_one(path, writer, progress=lambda one: steps.append(one.steps), is_cancelled=lambda: bool(steps))
    assert steps == [200]
    assert "was cancelled" in report.summary
    assert import_one(path, writer).run_id == report.run_id
    assert len(reader.points(report.run_id, "reward").steps) == 1000


def test_that_an_import_that_was_cut_off_goes_on_with_the_same_run(writer, reader, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"step": n, "reward": 1.0} for n in range(1, 1001)])

    def die(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_one(path, writer, progress=die)
    (cut_off,) = reader.runs()
    assert import_one(path, writer).run_id == cut_off.id
    assert len(reader.runs()) == 1
    assert len(reader.points(cut_off.id, "reward").steps) == 1000


READ = """
import sys
from contextlib import closing
from pathlib import Path
from grpo_gui.exports.writing import export_runs
from grpo_gui.outside.following import Follower
from grpo_gui.outside.importing import import_path
from grpo_gui.store.writer import StoreWriter
with closing(StoreWriter.open(Path(sys.argv[1]))) as writer:
    def wait(_):
        print("reading", flush=True)
        sys.stdin.readline()
    list(import_path(Path(sys.argv[2]), writer, progress=wait))
"""


@contextmanager
def other_import(writer, path):
    """Another process that stands still in the middle of importing `path`."""
    command = [sys.executable, "-c", READ, str(writer.path), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "reading\n"
            yield process
        finally:
            process.kill()


def test_that_a_place_that_another_process_imports_is_left_to_it_until_that_is_killed(writer, reader, tmp_path):
    path = write_lines(tmp_path / "a.jsonl", [{"step": n, "reward": 1.0} for n in range(1, 1001)])
    with other_import(writer, path):
        with pytest.raises(OutsideError, match="Run 1 is being read from there already"):
            import_one(path, writer)
        with pytest.raises(BadInputError, match="Run 1 is being read from there already"):
            Follower(LocalPlace(path), writer).poll()
        (run,) = reader.runs()
    assert import_one(path, writer).run_id == run.id
    assert len(reader.points(run.id, "reward").steps) == 1000


def test_that_two_imports_that_begin_at_once_make_one_run(writer, reader, tmp_path, monkeypatch):
    path = write_lines(tmp_path / "a.jsonl", [{"step": 1, "reward": 1.0}])
    begin = writer.begin_outside_run

    def begin_second(*arguments):
        with other_import(writer, path):
            return begin(*arguments)

    monkeypatch.setattr(writer, "begin_outside_run", begin_second)
    with pytest.raises(OutsideError, match="Run 1 is being read from there already"):
        import_one(path, writer)
    assert [run.id for run in reader.runs()] == [1]


def test_that_a_run_that_is_broken_is_named_after_those_beside_it_were_imported(writer, reader, tmp_path):
    for name, text in (("a", '{"log_history": [broken'), ("b", '{"log_history": [{"step": 1, "reward": 0.5}]}')):
        (tmp_path / name / "checkpoint-1").mkdir(parents=True)
        (tmp_path / name / "checkpoint-1/trainer_state.json").write_text(text)
    reports = import_path(tmp_path, writer)
    imported = next(reports)
    with pytest.raises(OutsideError, match="cannot be read as"):
        next(reports)
    assert reader.points(imported.run_id, "reward").values.tolist() == [0.5]


def test_that_a_first_line_may_be_long_and_a_csv_cell_may_hold_line_breaks(writer, reader, tmp_path):
    long = write_lines(tmp_path / "a.jsonl", [{"step": 1, "prompt": "p", "completion": "x" * 200_000, "reward": 1.0}])
    run_id = import_one(long, writer).run_id
    assert len(reader.groups_of_step(run_id, 1)[0].completions[0].text) == 200_000
    table = tmp_path / "b.csv"
    table.write_bytes(b'step,prompt,completion,reward\r\n1,p,"one\n""two"", three",1\r\n1,p,"4",0\r\n')
    run_id = import_one(table, writer).run_id
    assert [sample.text for sample in reader.groups_of_step(run_id, 1)[0].completions] == ['one\n"two", three', "4"]


def test_that_a_damaged_parquet_file_is_named_and_what_lies_beside_it_imported(writer, reader, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = [f"answer {n}" for n in range(5000)]
    parquet.write_table(pyarrow.table({"prompt": texts, "completion": texts}), tmp_path / "a.parquet")
    whole = bytearray((tmp_path / "a.parquet").read_bytes())
    whole[1000:3000] = bytes(2000)
    (tmp_path / "a.parquet").write_bytes(whole)
    write_lines(tmp_path / "m.jsonl", [{"step": 1, "reward": 0.5}])
    report = import_one(tmp_path, writer)
    assert [problem.split(":")[0] for problem in report.problems] == ["a.parquet"]
    assert reader.points(report.run_id, "reward").values.tolist() == [0.5]


def test_that_the_folder_of_one_checkpoint_is_a_run(writer, reader, copied):
    report = import_one(copied("trl_run") / "checkpoint-3", writer)
    assert len(reader.points(report.run_id, "reward").steps) == 3


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_that_exported_curves_come_back_as_they_were(writer, reader, tmp_path, ending):
    pytest.importorskip("pyarrow")
    run_id = writer.create_run(samples.new_run())
    for number in range(1, 4):
        writer.emit(
            samples.step(run_id, number, metrics=(("reward", number / 3), ("kl", math.inf if number == 2 else 0.1)))
        )
    writer.flush()
    path = tmp_path / f"curves.{ending}"
    export_runs(writer.path, [run_id], path)
    report = import_one(path, writer)
    assert report.problems == ()
    assert reader.run(report.run_id).name == reader.run(run_id).name
    assert reader.series_names(report.run_id) == reader.series_names(run_id)
    for name in reader.series_names(run_id):
        before, after = reader.points(run_id, name), reader.points(report.run_id, name)
        assert (after.definition_id, after.steps.tolist()) == (before.definition_id, before.steps.tolist())
        assert after.values.tolist() == before.values.tolist()
    assert reader.totals(report.run_id).times_s.tolist() == reader.totals(run_id).times_s.tolist()


def test_that_of_several_exported_runs_the_first_is_taken_and_the_others_are_named(writer, reader, tmp_path):
    path = tmp_path / "curves.csv"
    path.write_text("run,metric,step,value\n2,kl,2,0.2\n2,kl,1,0.1\n3,kl,1,9\n2,kl,x,1\n", encoding="utf-8")
    report = import_one(path, writer)
    assert reader.points(report.run_id, "kl").values.tolist() == [0.1, 0.2]
    assert report.problems[0] == "curves.csv, row 4: no metric, step and value."
    assert "run 2, which were taken, and of 3" in report.problems[1]


def test_that_metrics_in_parquet_are_read_by_step(writer, reader, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"global_step": [1, 2, None], "reward": [0.5, math.nan, 1.0], "note": ["a", "b", "c"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "metrics.parquet")
    report = import_one(tmp_path / "metrics.parquet", writer)
    points = reader.points(report.run_id, "reward")
    assert (points.steps.tolist(), points.values[0], math.isnan(points.values[1])) == ([1, 2], 0.5, True)
    assert report.problems == ("metrics.parquet, row 3: no step with numbers.",)


def test_that_nan_and_infinity_are_data(writer, reader, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"step": 1, "loss": NaN, "kl": Infinity, "reward": null}\n', encoding="utf-8")
    run_id = import_one(path, writer).run_id
    assert math.isnan(reader.points(run_id, "loss").values[0])
    assert reader.points(run_id, "kl").values.tolist() == [math.inf]
    assert "reward" not in reader.series_names(run_id)
