"""TRL itself is run here, in processes of its own, as the window does it."""

import json
import os
import signal
import threading
from contextlib import closing
from dataclasses import replace

import psutil
import pytest

from grpo_gui.commands import Pause, Resume, SaveSnapshot, Stop
from grpo_gui.errors import TrainingError
from grpo_gui.events import RunStatus
from grpo_gui.handover.job import JOB, OUTPUT, new_job
from grpo_gui.handover.placement import Placement
from grpo_gui.handover.starting import job_folder, prepare, start_supervisor
from grpo_gui.handover.supervisor import supervise
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRef
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.config import RewardSpec, TrainConfig

pytestmark = pytest.mark.trl

CONFIG = replace(
    TrainConfig(),
    device="cpu",
    steps=3,
    prompts_per_step=4,
    num_generations=4,
    num_iterations=1,
    max_completion_length=6,
    eval_steps=0,
    rewards=(RewardSpec("right", "exact"), RewardSpec("two tokens", "length", 0.5, "2")),
)
TIMEOUT_S = 120.0


@pytest.fixture(autouse=True)
def _needs_trl():
    pytest.importorskip("trl")
    pytest.importorskip("pyarrow")


@pytest.fixture
def database(tmp_path):
    return tmp_path / "runs.db"


def begin(database, config, processes=1, **options):
    """Make a run and its job, with some options of TRL changed as a person may change them in job.json."""
    with closing(StoreWriter.open(database)) as writer:
        run_id = prepare(config, Placement(processes), writer, database)
    path = job_folder(database, run_id) / JOB
    job = json.loads(path.read_text())
    job["trl"] |= options
    path.write_text(json.dumps(job))
    return run_id


def first_line(path):
    with path.open() as file:
        return json.loads(file.readline())


def trls_own_rows(folder, step):
    """Completion, reward of each source, and advantage, as TRL wrote them itself."""
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder / OUTPUT / "completions" / f"completions_{step:05d}.parquet").to_pylist()


def test_that_one_process_trains_a_run_that_looks_like_any_other(database):
    run_id = begin(database, replace(CONFIG, num_iterations=2, eval_steps=1, eval_prompts=4))
    assert supervise(run_id, database) is RunStatus.FINISHED
    with StoreReader(database) as reader:
        run = reader.run(run_id)
        names = set(reader.series_names(run_id))
        sampled = reader.groups_of_step(run_id, 1)
        assert run.steps_done == 6
        assert run.completions == 3 * 16
        assert run.name == "compare, TRL"
        assert {"loss", "kl", "reward", "clip_ratio/region_mean", "rewards/two tokens/mean", "eval/reward"} <= names
        assert len(reader.points(run_id, "eval/reward").steps) == 4  # before the first step and after each of ours
        assert json.loads(run.config)["world_size"] == 1
    assert sampled[0].prompt.endswith("?")  # without the line break that the model needs
    sample = sampled[0].completions[0]
    assert dict(sample.rewards).keys() == {"right", "two tokens"}
    assert len(sample.logps) == len(sample.ref_logps) == 4 * len(sample.token_ids)

    from grpo_gui.language.loading import load_policy

    assert load_policy(str(job_folder(database, run_id) / OUTPUT / "model"), "cpu").tokenizer.vocab_size > 90


def test_that_two_ranks_bring_every_sample_once_with_the_advantages_of_trl(database):
    config = replace(CONFIG, micro_batch_prompts=1)  # two micro-batches on each rank
    run_id = begin(database, config, 2, log_completions=True)
    assert supervise(run_id, database) is RunStatus.FINISHED
    folder = job_folder(database, run_id)
    with StoreReader(database) as reader:
        run = reader.run(run_id)
        assert json.loads(run.config)["world_size"] == 2
        assert run.completions == 3 * 16
        for step in (1, 2, 3):
            stored = [sample for group in reader.groups_of_step(run_id, step) for sample in group.completions]
            theirs = trls_own_rows(folder, step)
            assert [one.text for one in stored] == [row["completion"] for row in theirs]
            assert [one.advantage for one in stored] == pytest.approx([row["advantage"] for row in theirs], abs=1e-6)
            assert [dict(one.rewards)["right"] for one in stored] == [row["right"] for row in theirs]
    files = sorted((folder / OUTPUT / "grpo_gui").glob("rank*.jsonl"))
    starts = [first_line(path) for path in files]
    assert [(one["rank"], one["world_size"]) for one in starts] == [(0, 2), (1, 2)]
    assert starts[0]["pid"] != starts[1]["pid"]


def test_that_a_killed_rank_is_named_and_leaves_a_readable_run(database):
    run_id = begin(database, replace(CONFIG, steps=5000, warmup_steps=0), 2)
    file = job_folder(database, run_id) / OUTPUT / "grpo_gui" / "rank1.jsonl"
    killed = []

    def kill_when_it_trains():
        with StoreReader(database) as reader:
            if not killed and reader.run(run_id).steps_done >= 3:
                killed.append(first_line(file)["pid"])
                os.kill(killed[0], signal.SIGKILL)

    assert supervise(run_id, database, kill_when_it_trains) is RunStatus.FAILED
    with StoreReader(database) as reader:
        run = reader.run(run_id)
        assert run.message.startswith("Rank 1 ended with signal 9 (SIGKILL); the other ranks were ended with it.")
        assert run.steps_done >= 3
        assert [len(group.completions) for group in reader.groups_of_step(run_id, 3)] == [4] * 4
        assert reader.points(run_id, "loss").steps.tolist()[:2] == [1, 2]
        assert reader.group(GroupRef(run_id, 1, 0)) is not None


def test_that_pause_snapshot_and_stop_reach_trl_from_the_window(database):
    run_id = begin(database, replace(CONFIG, steps=5000, warmup_steps=0))
    with closing(StoreWriter.open(database)) as writer, StoreReader(database) as reader:
        handle = start_supervisor(run_id, database, writer)
        try:
            wait_until(lambda: reader.run(run_id).steps_done >= 1)
            handle.post(SaveSnapshot())
            wait_until(lambda: any((job_folder(database, run_id) / OUTPUT).glob("checkpoint-*/model.safetensors")))
            handle.post(Pause())
            wait_until(lambda: reader.run(run_id).status is RunStatus.PAUSED)
            handle.post(Resume())
            wait_until(lambda: reader.run(run_id).status is RunStatus.RUNNING)
            handle.post(Stop())
            wait_until(lambda: not handle.is_running())
        finally:
            assert handle.stop(TIMEOUT_S)
        assert reader.run(run_id).status is RunStatus.STOPPED
        assert all(note.text.startswith("Checkpoint saved in ") for note in reader.notes(run_id))
        assert reader.notes(run_id)


@pytest.mark.skipif(os.name != "posix", reason="processes are killed the POSIX way")
def test_that_trls_processes_end_when_the_one_that_looks_after_them_is_killed(database):
    run_id = begin(database, replace(CONFIG, steps=5000, warmup_steps=0), 2)
    with closing(StoreWriter.open(database)) as writer, StoreReader(database) as reader:
        supervisor = start_supervisor(run_id, database, writer)._process
        wait_until(lambda: reader.run(run_id).steps_done >= 1)
        family = psutil.Process(supervisor.pid).children(recursive=True)
        assert len(family) >= 3, "the launcher and two ranks"
        supervisor.kill()
        supervisor.wait()
        wait_until(lambda: not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in family))
        assert reader.run(run_id).status is RunStatus.INTERRUPTED


def test_that_ratings_given_in_the_window_are_what_trl_learns_from(database):
    human = replace(CONFIG, steps=2, num_generations=2, rating_mode="wait")
    human = replace(human, rewards=(RewardSpec("human", "human"),), multi_objective_aggregation="normalize_then_sum")
    run_id = begin(database, human)
    rated = set()
    with closing(StoreWriter.open(database)) as window, StoreReader(database) as reader:

        def rate_what_waits():
            for step in (1, 2):
                for group in reader.groups_of_step(run_id, step):
                    if group.ref not in rated:
                        rated.add(group.ref)
                        values = (1.0, 0.0) if group.ref.index == 0 else (0.0, 1.0)
                        window.rate_group(RatingEvent(group.ref, "me", "labels", values, (0, 1), 1.0, 1.5, 2.0))

        assert supervise(run_id, database, rate_what_waits) is RunStatus.FINISHED
        for step in (1, 2):
            stored = reader.groups_of_step(run_id, step)
            rewards = [[dict(sample.rewards)["human"] for sample in group.completions] for group in stored]
            assert rewards == [[1, -1], [-1, 1], [-1, 1], [-1, 1]]
            assert stored[0].completions[0].advantage > 0 > stored[1].completions[0].advantage


def test_that_data_that_trl_cannot_use_end_the_run_with_their_sentence(database, tmp_path):
    (tmp_path / "data.jsonl").write_text('{"prompt": [{"role": "user", "content": "Hi"}], "answer": "a"}\n' * 40)
    run_id = begin(database, replace(CONFIG, task="file", prompt_file=str(tmp_path / "data.jsonl")))
    assert supervise(run_id, database) is RunStatus.FAILED
    with StoreReader(database) as reader:
        assert "Rank 0 ended with exit code 1: The data hold chats" in reader.run(run_id).message


def test_that_ratings_of_people_are_a_source_under_its_name():
    from grpo_gui.handover.run_job import reward_functions

    human = replace(CONFIG, rewards=(RewardSpec("human", "human"), RewardSpec("right", "exact")))
    rated, right = reward_functions(human)
    assert (rated.__name__, rated.wait_s, right.__name__) == ("human", 0.0, "right")
    assert reward_functions(replace(human, rating_mode="wait"))[0].wait_s is None


@pytest.mark.parametrize(("started", "is_right"), [("2", True), ("1", False), (None, False)])
def test_that_the_number_of_processes_is_checked_by_each_of_them(started, is_right, monkeypatch):
    from grpo_gui.handover.run_job import check_world_size

    monkeypatch.delenv("WORLD_SIZE", raising=False)
    if started is not None:
        monkeypatch.setenv("WORLD_SIZE", started)
    job = new_job("x", CONFIG, Placement(2))
    if is_right:
        check_world_size(job)
        return
    with pytest.raises(TrainingError, match=r"1 process\(es\) were started \(WORLD_SIZE\), but the job asks for 2"):
        check_world_size(job)


def wait_until(is_so):
    waiting = threading.Event()
    for _ in range(int(TIMEOUT_S / 0.1)):
        if is_so():
            return
        waiting.wait(0.1)
    raise AssertionError("it did not happen in time")
