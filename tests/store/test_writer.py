import os
import signal
import sqlite3
import subprocess
import sys
import threading

import psutil
import pytest

from grpo_gui.commands import HandOver, Pause, Resume, SetHyperparameters, Step, Stop
from grpo_gui.errors import StoreError
from grpo_gui.events import EvalCompleted, HyperparameterChanged, RunStarted, RunStatus, StateSaved, TrainerStatus
from grpo_gui.store import writer as writer_module
from grpo_gui.store.liveness import is_alive, own_process
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery, GroupRef
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import group, new_run, step

# Says on its output what is committed, until it is killed.
CHILD = """
import sys
from pathlib import Path
from grpo_gui.events import RunStatus, TrainerStatus
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import new_run, step
writer = StoreWriter.open(Path(sys.argv[1]))
run_id = int(sys.argv[2]) if len(sys.argv) > 2 else writer.create_run(new_run())
writer.emit(TrainerStatus(run_id, RunStatus.RUNNING, 0))
for number in range(1, 100_000):
    writer.emit(step(run_id, number, prompts=4, size=8))
    if number % 5 == 0:
        assert writer.flush()
        print(run_id, number, flush=True)
"""


def start_child(path, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def integrity(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone()[0], connection.execute(
            "PRAGMA foreign_key_check"
        ).fetchall()
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(path):
    writer = StoreWriter.open(path)
    yield writer
    writer.close()


def test_that_a_killed_writer_loses_nothing_acknowledged_and_its_run_shows_as_interrupted(path):
    with start_child(path) as child:
        for _ in range(6):
            run_id, acknowledged = map(int, child.stdout.readline().split())
        child.send_signal(signal.SIGKILL)
    with StoreReader(path) as reader:  # readers see it before any writer has written it down
        assert reader.run(run_id).status is RunStatus.INTERRUPTED
        assert reader.run(run_id).steps_done >= acknowledged
    writer = StoreWriter.open(path)
    assert integrity(path) == ("ok", [])
    with StoreReader(path) as reader:
        run = reader.run(run_id)
        assert run.status is RunStatus.INTERRUPTED
        assert run.steps_done >= acknowledged == 30
        assert f"{run.steps_done} steps were kept" in run.message
        assert run.ended_s is not None
        assert run.completions == 32 * run.steps_done
        assert sum(len(rows) for rows in pages(reader, CompletionQuery(run_id))) == run.completions
        assert reader.points(run_id, "reward").steps.tolist() == list(range(1, run.steps_done + 1))
        for number in (1, run.steps_done):
            emitted = step(run_id, number, prompts=4, size=8).groups
            assert tuple(r.completions for r in reader.groups_of_step(run_id, number)) == tuple(
                g.completions for g in emitted
            )
    writer.close()


def pages(reader, query):
    cursor = None
    while True:
        page = reader.completion_page(query, cursor)
        yield page.rows
        cursor = page.cursor
        if cursor is None:
            return


def test_that_a_run_whose_process_lives_is_not_called_interrupted(path):
    with start_child(path) as child:
        run_id, _ = map(int, child.stdout.readline().split())
        writer = StoreWriter.open(path)
        with StoreReader(path) as reader:
            assert reader.run(run_id).status is RunStatus.RUNNING
            child.kill()
            child.wait()
            assert reader.run(run_id).status is RunStatus.INTERRUPTED
            assert writer.mark_dead_runs() == [run_id]
            assert reader.run(run_id).ended_s is not None
            assert writer.mark_dead_runs() == []
        writer.close()


def test_that_a_window_and_a_background_run_write_the_same_database(writer, path):
    own = writer.create_run(new_run())
    with start_child(path) as child, StoreReader(path) as reader:
        for number in range(1, 41):
            writer.emit(step(own, number))
            other, acknowledged = map(int, child.stdout.readline().split())
            assert reader.run(other).steps_done >= acknowledged
        assert writer.flush()
        child.kill()
        child.wait()
        assert own != other
        assert reader.points(own, "reward").steps.tolist() == list(range(1, 41))
        for run_id in (own, other):
            run = reader.run(run_id)
            rows = [row for page in pages(reader, CompletionQuery(run_id)) for row in page]
            assert len(rows) == len({row.id for row in rows}) == run.completions
            assert {row.ref.group.run_id for row in rows} == {run_id}
        assert writer.problem is None
    assert integrity(path) == ("ok", [])


def test_that_a_run_taken_over_by_another_process_belongs_to_that_process(writer, path):
    run_id = writer.create_run(new_run())
    writer.emit(TrainerStatus(run_id, RunStatus.HANDED_OVER, 0))
    assert writer.flush()
    with start_child(path, run_id) as child, StoreReader(path) as reader:
        child.stdout.readline()
        assert writer.mark_dead_runs() == []
        child.kill()
        child.wait()
        assert writer.mark_dead_runs() == [run_id]
        assert reader.run(run_id).status is RunStatus.INTERRUPTED


def test_that_commits_come_without_a_flush(writer, path):
    run_id = writer.create_run(new_run())
    with StoreReader(path) as reader:
        before = reader.data_version()
        writer.emit(step(run_id, 1))
        done = threading.Event()
        deadline = threading.Timer(0.25, done.set)
        deadline.start()
        while reader.newest_step(run_id) is None:
            assert not done.is_set(), "nothing was committed within 250 ms"
        deadline.cancel()
        deadline.join()
        assert reader.data_version() != before


def test_that_readers_see_whole_steps_while_a_writer_writes(writer, path):
    run_id = writer.create_run(new_run())
    ended = threading.Event()
    seen = []

    def read():
        with StoreReader(path) as reader:
            while not ended.is_set():
                newest = reader.newest_step(run_id)
                if newest is not None:
                    groups = reader.groups_of_step(run_id, newest)
                    seen.append([len(group.completions) for group in groups] == [8] * 4)

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(1, 120):
        writer.emit(step(run_id, number, prompts=4, size=8))
        if number % 10 == 0:
            assert writer.flush()
    ended.set()
    thread.join()
    assert seen
    assert all(seen)


def test_that_commands_reach_another_process_once_and_in_order(writer, path):
    run_id, other = writer.create_run(new_run()), writer.create_run(new_run())
    sent = [Pause(), SetHyperparameters(learning_rate=1e-4, epsilon_high=0.3), Step(), Resume(), HandOver(), Stop()]
    for command in sent:
        writer.post_command(run_id, command)
    writer.post_command(other, Pause())
    child = StoreWriter.open(path)
    assert child.take_commands(run_id) == sent
    assert child.take_commands(run_id) == []
    assert child.take_commands(other) == [Pause()]
    child.close()


def test_that_a_command_for_no_run_is_refused(writer):
    with pytest.raises(StoreError):
        writer.post_command(99, Pause())


def test_that_a_run_is_renamed(writer, path):
    run_id = writer.create_run(new_run())
    writer.rename_run(run_id, "better")
    with StoreReader(path) as reader:
        assert reader.run(run_id).name == "better"
    with pytest.raises(StoreError, match="Run 99 is not in the database"):
        writer.rename_run(99, "x")


def test_that_a_seed_that_does_not_fit_is_refused_with_a_sentence(writer):
    with pytest.raises(StoreError, match="cannot be stored"):
        writer.create_run(new_run(seed=2**64))
    assert writer.create_run(new_run(seed=2**63 - 1))


def test_that_steps_after_a_resume_replace_the_old_ones_which_are_kept(writer, path):
    run_id = writer.create_run(new_run())
    for number in range(1, 6):
        writer.emit(step(run_id, number, metrics=(("reward", float(number)), ("kl", 1.0))))
    writer.emit(EvalCompleted(run_id, 5, 1e9, (("eval/accuracy", 0.1),)))
    writer.emit(HyperparameterChanged(run_id, 5, "beta", 0.1, 0.2))
    writer.emit(RunStarted(run_id, 2, "cpu", 1, ()))
    new = [step(run_id, number, metrics=(("reward", -1.0),), groups=(group(0, seed=99),)) for number in (3, 4)]
    for event in new:
        writer.emit(event)
    assert writer.flush()
    with StoreReader(path) as reader:
        assert reader.points(run_id, "reward").values.tolist() == [1.0, 2.0, -1.0, -1.0]
        assert reader.points(run_id, "kl").steps.tolist() == [1, 2]
        assert reader.points(run_id, "eval/accuracy").steps.tolist() == []
        assert reader.changes(run_id) == ()
        assert reader.newest_step(run_id) == 4
        assert reader.totals(run_id).samples.tolist() == [8, 16, 20, 24]
        run = reader.run(run_id)
        assert (run.steps_done, run.completions) == (4, 24)
        assert reader.count(CompletionQuery(run_id)) == (24, 6)
        assert len(reader.completion_page(CompletionQuery(run_id)).rows) == 24
        assert reader.group(GroupRef(run_id, 3, 0)).completions == new[0].groups[0].completions
        assert reader.group(GroupRef(run_id, 3, 1)) is None
        kept = reader._connection.rows("SELECT count(*), min(step) FROM completions WHERE superseded = 1")
        assert kept == [(24, 3)]
    writer.emit(RunStarted(run_id, 0, "cpu", 1, ()))
    assert writer.flush()
    with StoreReader(path) as reader:
        assert reader.newest_step(run_id) is None
        assert reader.count(CompletionQuery(run_id)) == (0, 0)
        assert reader._connection.rows("SELECT max(superseded), count(*) FROM completions") == [(2, 48)]
    assert integrity(path) == ("ok", [])


def test_that_a_step_that_comes_again_replaces_the_first_one(writer, path):
    run_id = writer.create_run(new_run())
    for number in (1, 2, 2):
        writer.emit(step(run_id, number))
    assert writer.flush()
    assert writer.problem is None
    with StoreReader(path) as reader:
        assert reader.newest_step(run_id) == 2
        assert reader.run(run_id).completions == 16


def test_that_the_newest_training_state_counts(writer, path):
    run_id = writer.create_run(new_run())
    for number in (1, 2):
        writer.emit(StateSaved(run_id, number, f"/state/{number}"))
    assert writer.flush()
    with StoreReader(path) as reader:
        assert reader.run(run_id).state_path == "/state/2"


def test_that_one_event_that_cannot_be_stored_does_not_take_others_with_it(writer, path, caplog):
    run_id = writer.create_run(new_run())
    for number in (1, 2, 3):
        writer.emit(step(run_id, number))
        writer.emit(step(4711, number))
    assert writer.flush()
    with StoreReader(path) as reader:
        assert reader.points(run_id, "reward").steps.tolist() == [1, 2, 3]
    assert writer.problem == "3 events could not be stored; the log says why."
    assert caplog.text.count("An event of run 4711 cannot be stored") == 3
    assert writer.congestion() is None


def test_that_a_run_taken_for_dead_that_goes_on_is_running_again(writer, path):
    run_id = writer.create_run(new_run())
    writer.emit(TrainerStatus(run_id, RunStatus.INTERRUPTED, 0))
    writer.emit(step(run_id, 1))
    assert writer.flush()
    with StoreReader(path) as reader:
        run = reader.run(run_id)
        assert (run.status, run.ended_s) == (RunStatus.RUNNING, None)


def test_that_closing_writes_what_waits_and_twice_is_once(path):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    for number in range(1, 50):
        writer.emit(step(run_id, number))
    writer.close()
    writer.close()
    assert [file.name for file in path.parent.iterdir()] == ["a.db"]
    with StoreReader(path) as reader:
        assert reader.newest_step(run_id) == 49
    with pytest.raises(StoreError, match="closed already"):
        writer.add_note(run_id, 1, "late")


def test_that_an_event_after_the_end_is_refused_in_the_log(path, caplog):
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    writer.close()
    writer.emit(step(run_id, 1))
    assert "came after the database was closed" in caplog.text
    assert writer.waiting_events == 0


def test_that_too_many_waiting_events_make_the_trainer_wait(writer, monkeypatch):
    run_id = writer.create_run(new_run())
    assert writer.congestion() is None
    monkeypatch.setattr(writer_module, "LIMIT_BYTES", 10_000)
    blocker = sqlite3.connect(writer.path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    for number in range(1, 5):
        writer.emit(step(run_id, number))
    sentence = writer.congestion()
    assert "Training waits until the samples in memory" in sentence
    assert str(writer.path) in sentence
    blocker.execute("ROLLBACK")
    blocker.close()
    assert writer.flush()
    assert writer.congestion() is None


def test_that_a_process_is_known_by_its_start_time_too():
    pid, started_s = own_process()
    assert is_alive(pid, started_s)
    assert not is_alive(pid, started_s - 3600)
    assert not is_alive(None, None)
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.DEVNULL) as child:
        started_s = psutil.Process(child.pid).create_time()
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            assert not is_alive(child.pid, started_s)  # ended, not yet collected by its parent
    assert not is_alive(child.pid, started_s)


def test_that_the_longest_commit_is_told_once(writer):
    run_id = writer.create_run(new_run())
    writer.write_ms()
    assert writer.write_ms() is None
    writer.emit(step(run_id, 1))
    assert writer.flush()
    longest = writer.write_ms()
    assert longest is not None
    assert 0 < longest < 60_000
    assert writer.write_ms() is None
