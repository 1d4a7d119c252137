"""TRL itself, run as its users run it: what the store shows is what TRL logged."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from grpo_gui.events import RunStatus
from grpo_gui.outside.control import ControlWriter
from tests.outside.conftest import import_one

pytestmark = pytest.mark.trl
ROOT = Path(__file__).parents[2]
MODULE = "tests.outside.trl_scripts"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    pytest.importorskip("trl", reason="needs the trl extra")
    from tests.language.hf_models import make_hf_model

    return make_hf_model(tmp_path_factory.mktemp("model") / "llama", "llama", template=None)


def start(arguments, folder):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    environment |= {"HF_HOME": str(folder.parent / "hf"), "CUDA_VISIBLE_DEVICES": "", "TQDM_DISABLE": "1"}
    log = (folder.parent / f"{folder.name}.log").open("wb")
    with log:
        return subprocess.Popen(list(map(str, arguments)), cwd=ROOT, env=environment, stdout=log, stderr=log)


def finish(process, folder):
    code = process.wait(timeout=200)
    assert code == 0, (folder.parent / f"{folder.name}.log").read_text()[-3000:]


@pytest.fixture
def run_script(model, tmp_path):
    """Run one kind of script to its end."""

    def run(kind):
        folder = tmp_path / kind
        finish(start([sys.executable, "-m", MODULE, kind, model, folder], folder), folder)
        return folder

    return run


def assert_equal_metrics(reader, run_id, folder):
    """Every number that TRL logged, at its step, and no other number."""
    truth = json.loads((folder / "truth.json").read_text())
    expected = {}
    for row in truth:
        for name, value in row.items():
            if name not in ("step", "total_flos") and value is not None:
                expected.setdefault(name, {})[row["step"]] = value
    raw = reader.raw_names(run_id)
    stored = {}
    for name in reader.series_names(run_id):
        points = reader.points(run_id, name)
        stored[raw[name]] = dict(zip(points.steps.tolist(), points.values.tolist(), strict=True))
    stored.pop("total_flos", None)
    assert stored == expected


def assert_equal_samples(reader, run_id, folder):
    """Every completion that TRL wrote, with its rewards, and its advantage to 1e-6."""
    import pyarrow.parquet

    seen = set()
    for path in sorted((folder / "completions").iterdir()):
        rows = pyarrow.parquet.read_table(path).to_pylist()
        key = str([row["completion"] for row in rows])
        if key in seen:
            continue  # an inner update repeats its batch
        seen.add(key)
        groups = reader.groups_of_step(run_id, rows[0]["step"])
        samples = [(group.prompt, sample) for group in groups for sample in group.completions]
        assert [(prompt, sample.text) for prompt, sample in samples] == [(r["prompt"], r["completion"]) for r in rows]
        for row, (_, sample) in zip(rows, samples, strict=True):
            assert sample.advantage == pytest.approx(row["advantage"], abs=1e-6)
            for name, value in sample.rewards:
                assert value == (None if row[name] is None or row[name] != row[name] else row[name])
    assert seen


def test_that_the_callback_records_what_trl_logged(run_script, writer, reader):
    folder = run_script("callback")
    run_id = import_one(folder, writer).run_id
    assert_equal_metrics(reader, run_id, folder)
    run = reader.run(run_id)
    assert (run.status, run.device, run.seed) == (RunStatus.FINISHED, "cpu", 3)
    assert dict(run.versions)["trl"]


def test_that_a_crash_of_the_users_code_is_recorded_with_its_error(model, tmp_path, writer, reader):
    folder = tmp_path / "crash"
    process = start([sys.executable, "-m", MODULE, "crash", model, folder], folder)
    assert process.wait(timeout=200) == 1
    assert "ZeroDivisionError: no digits at all" in (tmp_path / "crash.log").read_text()
    run = reader.run(import_one(folder, writer).run_id)
    assert (run.status, run.message) == (RunStatus.FAILED, "ZeroDivisionError: no digits at all")
    assert run.steps_done == 1


def test_that_the_observer_changes_nothing_and_records_samples(run_script, writer, reader):
    folder = run_script("observer")
    run_id = import_one(folder, writer).run_id
    assert_equal_metrics(reader, run_id, folder)
    assert_equal_samples(reader, run_id, folder)
    first = reader.groups_of_step(run_id, 1)[0].completions[0]
    assert [name for name, _ in first.rewards] == ["digits", "short"]
    assert len(first.tokens) == len(first.token_ids) > 0


def test_that_the_subclass_also_records_log_probabilities(run_script, writer, reader):
    folder = run_script("subclass")
    run_id = import_one(folder, writer).run_id
    assert_equal_metrics(reader, run_id, folder)
    assert_equal_samples(reader, run_id, folder)
    samples = [sample for group in reader.groups_of_step(run_id, 1) for sample in group.completions]
    for sample in samples:
        size = 4 * len(sample.token_ids)
        blobs = (sample.old_logps, sample.logps, sample.ref_logps, sample.entropy)
        assert [len(blob) for blob in blobs] == [size] * 4
    # TRL logs the clipping of the second update of the batch at step 2
    high = [sample.clip_fraction_high * len(sample.token_ids) for sample in samples]
    tokens = sum(len(sample.token_ids) for sample in samples)
    logged = reader.points(run_id, "clip_ratio/high_mean").values[1]
    assert sum(high) / tokens == pytest.approx(logged, abs=1e-6)
    kl = sum(sample.kl_mean * len(sample.token_ids) for sample in samples) / tokens
    assert kl == pytest.approx(reader.points(run_id, "kl").values[1], rel=1e-4)


def test_that_the_observer_works_from_trls_own_command_line(model, tmp_path, writer, reader):
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.jsonl").write_text("".join(json.dumps({"prompt": f"{n}+1="}) + "\n" for n in range(16)))
    folder = tmp_path / "cli"
    options = {
        "model_name_or_path": model,
        "dataset_name": data,
        "output_dir": folder,
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_completion_length": 8,
        "max_steps": 2,
        "logging_steps": 1,
        "report_to": "none",
        "use_cpu": "true",
        "bf16": "false",
        "gradient_checkpointing": "false",
        "log_completions": "true",
        "save_strategy": "steps",
        "save_steps": 2,
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    rewards = ["--reward_funcs", f"{MODULE}.digits", "grpo_gui.outside.trl.observer"]
    finish(start([Path(sys.executable).with_name("trl"), "grpo", *rewards, *arguments], folder), folder)
    run_id = import_one(folder, writer).run_id
    state = json.loads((folder / "checkpoint-2/trainer_state.json").read_text())
    (folder / "truth.json").write_text(json.dumps(state["log_history"]))
    rows = [row for row in state["log_history"] if "reward" in row]
    assert reader.points(run_id, "reward").values.tolist() == [row["reward"] for row in rows]
    assert reader.points(run_id, "loss").values.tolist() == [row["loss"] for row in rows]
    assert_equal_samples(reader, run_id, folder)


def wait_for_line(path, kind, timeout_s=100.0):
    """The first event of a kind in a rank's file."""
    from grpo_gui.outside.tail import LineTail

    tail, waiting = LineTail(path), threading.Event()
    for _ in range(int(timeout_s / 0.05)):
        if path.exists():
            for line in tail.lines():
                event = json.loads(line.data)
                if kind(event):
                    return event
        waiting.wait(0.05)
    raise AssertionError(path.read_text()[-2000:] if path.exists() else f"{path} never came")


def test_that_pause_snapshot_and_stop_travel_back(model, tmp_path, writer, reader):
    folder = tmp_path / "steered"
    process = start([sys.executable, "-m", MODULE, "steered", model, folder], folder)
    rank, control = folder / "grpo_gui/rank0.jsonl", ControlWriter(folder / "grpo_gui")
    wait_for_line(rank, lambda event: event["kind"] == "metrics")
    control.send("pause")
    paused = wait_for_line(rank, lambda event: event.get("status") == "paused")
    control.send("snapshot")
    control.send("resume")
    saved = wait_for_line(rank, lambda event: event["kind"] == "snapshot")
    assert Path(saved["path"], "model.safetensors").exists()
    assert saved["step"] == paused["step"] + 1 or saved["step"] == paused["step"]
    control.send("stop")
    finish(process, folder)
    end = wait_for_line(rank, lambda event: event["kind"] == "end")
    assert end["status"] == "stopped"
    assert reader.run(import_one(folder, writer).run_id).status is RunStatus.STOPPED


def test_that_a_run_waits_for_a_persons_ratings_and_trains_on_them(model, tmp_path, writer, reader):
    folder = tmp_path / "rated"
    process = start([sys.executable, "-m", MODULE, "rated", model, folder], folder)
    rank, control = folder / "grpo_gui/rank0.jsonl", ControlWriter(folder / "grpo_gui")
    asked = wait_for_line(rank, lambda event: event["kind"] == "rate")
    place = {"session": asked["session"], "generation": asked["generation"]}
    ratings = [None if row == 3 else float(row % 2) for row in asked["rows"]]
    control.rate([{**place, "row": row, "rating": value} for row, value in zip(asked["rows"], ratings, strict=True)])
    finish(process, folder)
    run_id = import_one(folder, writer).run_id
    samples = [sample for group in reader.groups_of_step(run_id, 1) for sample in group.completions]
    assert [dict(sample.rewards)["human_rating"] for sample in samples] == ratings
    assert samples[3].advantage == 0.0
    assert samples[1].advantage > 0 > samples[0].advantage
