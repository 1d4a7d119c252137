import json
import os
import shutil
import stat
import threading
import time
from contextlib import closing

import pytest

from grpo_gui.commands import ContinueWithout, Pause, SaveSnapshot
from grpo_gui.errors import BadInputError
from grpo_gui.events import GroupRef, RunStatus
from grpo_gui.outside.control import ControlReader, RatingReader
from grpo_gui.outside.following import Follower
from grpo_gui.outside.places import LocalPlace
from grpo_gui.outside.quiet import QuietClock
from grpo_gui.outside.source import LineSource
from grpo_gui.outside.ssh_place import SshPlace
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store.writer import StoreWriter
from tests.outside.conftest import DATA, write_lines
from tests.rights import unprivileged

FAKE_SSH = """#!/bin/sh
echo "$@" >> "$FAKE_SSH_LOG"
while [ "$1" != "--" ]; do shift; done
if [ "$2" = "nobody" ]; then echo "ssh: could not resolve nobody" >&2; exit 255; fi
shift 2
exec sh -c "$1"
"""


@pytest.fixture
def follow(writer):
    followers = []

    def start(place, **options):
        place = place if hasattr(place, "refresh") else LocalPlace(place)
        followers.append(Follower(place, writer, **options))
        return followers[-1]

    yield start
    for follower in followers:
        follower.close()


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """Let ssh run its command on this machine; hand back its log."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/ssh"
    script.write_text(FAKE_SSH)
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SSH_LOG", str(tmp_path / "ssh.log"))
    return tmp_path / "ssh.log"


def look(follower):
    """Look for new files now, then read."""
    follower._looked_s = -1e9
    return follower.poll()


def rows(first, last, value=None):
    return [{"step": n, "reward": n / 10 if value is None else value} for n in range(first, last + 1)]


def bridge_line(seq, kind, step, **fields):
    return {"v": 1, "seq": seq, "rank": 0, "session": "s", "kind": kind, "step": step, "time": 1e9 + seq, **fields}


def bridge_group(seq, step, generation, size=2):
    return [
        bridge_line(
            *(seq + row, "completion", step),
            **{
                "mode": "train",
                "generation": generation,
                "size": size,
                "row": row,
                "prompt": "p",
                "completion": str(row),
            },
            **{"tokens": [5, 2], "texts": ["x", "<e>"], "truncated": False, "answer": "a"},
        )
        for row in range(size)
    ]


def test_that_a_growing_log_is_followed_line_by_line(follow, writer, reader, tmp_path):
    path = write_lines(tmp_path / "log.jsonl", rows(1, 2))
    follower = follow(path)
    look(follower)
    with path.open("a") as file:
        file.write('{"step": 3, "rew')
    follower.poll()
    assert reader.points(follower.run_id, "reward").steps.tolist() == [1, 2]
    with path.open("a") as file:
        file.write('ard": 0.3}\n')
    follower.poll()
    assert reader.points(follower.run_id, "reward").values.tolist() == [0.1, 0.2, 0.3]
    assert writer.flush()
    run = reader.run(follower.run_id)
    assert (run.origin, run.status) == ("followed", RunStatus.RUNNING)


def test_that_a_place_that_is_not_there_yet_may_come_later(follow, reader, tmp_path):
    follower = follow(tmp_path / "later")
    assert look(follower) == 0
    assert follower.run_id is None
    write_lines(tmp_path / "later/log.jsonl", rows(1, 1))
    assert look(follower) == 1
    write_lines(tmp_path / "later/more.jsonl", [{"step": 1, "kl": 0.5}])
    look(follower)
    assert reader.series_names(follower.run_id) == ("reward", "kl")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none", None, "is not there yet; waiting for it"),
        ("empty", "", "is empty so far"),
        ("empty folder/", None, "is empty so far"),
        ("odd.bin", "odd", "is of no kind that can be read"),
        ("folder/odd.bin", "odd", "holds nothing so far that can be read; waiting for a TRL output folder"),
        ("folder/a.csv", "step,reward\n", "holds no step so far"),
        ("folder/a.jsonl", '{"step": 1, "reward": 2}'.replace("1", "-"), "holds nothing so far"),
        ("folder/b.csv", "step,reward\nx,y\n", "b.csv, line 2: "),
    ],
)
def test_that_following_says_what_it_waits_for(follow, tmp_path, name, content, sentence):
    place = tmp_path / "run" / name
    if name.endswith("/"):
        place.mkdir(parents=True)
    elif content is not None:
        place.parent.mkdir(parents=True)
        place.write_text(content)
    follower, said = follow(place.parent if "/" in name.rstrip("/") else place), []
    follower.waits = said.append
    look(follower)
    look(follower)
    assert len(said) == 1, "it is said once"
    assert sentence in said[0]
    assert str(follower.place.folder) in said[0] or "b.csv" in said[0]


@pytest.mark.parametrize("closed", ["run", "run/a.jsonl"])
def test_that_following_says_what_may_not_be_read(public_folder, closed):
    write_lines(public_folder / "run/a.jsonl", rows(1, 2))
    said = []
    with closing(StoreWriter.open(public_folder / "a.db")) as writer:
        follower = Follower(LocalPlace(public_folder / "run"), writer)
        follower.waits = said.append
        (public_folder / closed).chmod(0o000)
        with unprivileged():
            follower.poll()
        (public_folder / closed).chmod(0o755)
        follower.close()
    (sentence,) = said
    assert sentence.startswith(str(public_folder / closed))
    assert sentence.endswith("check its permissions.")


def test_that_a_source_that_may_not_be_read_for_now_is_told_and_goes_on(follow, reader, tmp_path, monkeypatch):
    path = write_lines(tmp_path / "a.jsonl", rows(1, 2))
    follower, said = follow(path), []
    follower.said = lambda *words: said.append(words)
    follower.waits = said.append
    look(follower)

    def refuse(_, *, final=False):
        raise PermissionError(13, "Permission denied", str(path))
        yield

    with monkeypatch.context() as patch:
        patch.setattr(LineSource, "read", refuse)
        look(follower)
    follower._writer.flush()
    assert reader.run(1).message == f"{path} cannot be read for now (Permission denied)."
    write_lines(path, rows(3, 3), mode="a")
    look(follower)
    assert reader.newest_step(1) == 3
    assert [status for status, *_ in said] == ["running", "waiting", "running"], "each is said once"


def test_that_a_log_that_is_begun_anew_counts_from_where_it_differs(follow, reader, tmp_path):
    path = write_lines(tmp_path / "log.jsonl", rows(1, 5))
    follower = follow(path)
    look(follower)
    write_lines(path, [*rows(1, 2), *rows(3, 3, 0.9)])
    follower.poll()
    assert reader.points(follower.run_id, "reward").values.tolist() == [0.1, 0.2, 0.9]
    assert reader.newest_step(follower.run_id) == 3


def test_that_a_rotated_log_loses_nothing(follow, reader, tmp_path):
    path = write_lines(tmp_path / "run/log.jsonl", rows(1, 2))
    follower = follow(tmp_path / "run")
    look(follower)
    os.replace(path, path.with_suffix(".old"))
    write_lines(path, rows(3, 4))
    follower.poll()
    assert reader.points(follower.run_id, "reward").steps.tolist() == [1, 2, 3, 4]


def test_that_following_goes_on_after_a_restart_without_reading_anew(follow, writer, reader, tmp_path):
    path = write_lines(tmp_path / "log.jsonl", rows(1, 3))
    first = follow(path)
    look(first)
    first.close()
    assert reader.run(first.run_id).status is RunStatus.INTERRUPTED
    write_lines(path, rows(4, 4), "a")
    second = Follower(LocalPlace(path), writer)
    assert look(second) == 1  # the one new line
    assert second.run_id == first.run_id
    assert reader.points(second.run_id, "reward").steps.tolist() == [1, 2, 3, 4]
    second.close()


def test_that_a_trl_folder_is_followed_as_it_grows(follow, reader, tmp_path):
    source, folder = DATA / "trl_two", tmp_path / "run"
    events = next((source / "runs/first").iterdir())
    data = events.read_bytes()
    (folder / "runs/first").mkdir(parents=True)
    (folder / "completions").mkdir()
    target = folder / "runs/first" / events.name
    target.write_bytes(data[: len(data) // 2])
    follower = follow(folder)
    look(follower)
    half = follower.run_id is not None and reader.newest_step(follower.run_id)
    parquet = (source / "completions/completions_00001.parquet").read_bytes()
    (folder / "completions/completions_00001.parquet").write_bytes(parquet[:1000])  # half written
    look(follower)
    assert reader.groups_of_step(follower.run_id, 1) == ()
    (folder / "completions/completions_00001.parquet").write_bytes(parquet)
    target.write_bytes(data)
    follower.poll()
    assert len(reader.groups_of_step(follower.run_id, 1)) == 2
    assert half < reader.newest_step(follower.run_id) == 6
    shutil.copytree(source / "checkpoint-6", folder / "checkpoint-6")
    look(follower)
    assert reader.points(follower.run_id, "loss").steps.tolist() == [1, 2, 3, 4, 5, 6]


def rollout(number):
    return {"input": f"q{number // 2}", "output": f"a{number}", "score": float(number), "uid": number // 2}


def texts_of(reader, step):
    return [[sample.text for sample in group.completions] for group in reader.groups_of_step(1, step)]


def test_that_a_rollout_that_is_half_written_is_taken_up_when_it_is_whole(follow, reader, tmp_path):
    folder = tmp_path / "run/rollouts"
    write_lines(folder / "1.jsonl", map(rollout, range(4)))
    whole = write_lines(folder / "2.jsonl", map(rollout, range(4, 8))).read_bytes()
    (folder / "2.jsonl").write_bytes(whole[:-9])
    follower = follow(tmp_path / "run")
    look(follower)
    look(follower)
    assert (texts_of(reader, 1), texts_of(reader, 2)) == ([["a0", "a1"], ["a2", "a3"]], [])
    (folder / "2.jsonl").write_bytes(whole)
    look(follower)
    assert texts_of(reader, 2) == [["a4", "a5"], ["a6", "a7"]]


@pytest.mark.parametrize("sign", ["a later step", "a minute of silence"])
def test_that_a_rollout_that_nobody_writes_any_more_is_taken_as_far_as_it_is_whole(follow, reader, tmp_path, sign):
    folder = tmp_path / "run/rollouts"
    write_lines(folder / "1.jsonl", map(rollout, range(4)))
    (folder / "1.jsonl").write_bytes((folder / "1.jsonl").read_bytes()[:-9])
    follower = follow(tmp_path / "run")
    look(follower)
    assert follower.run_id is None
    if sign == "a later step":
        write_lines(folder / "2.jsonl", map(rollout, range(4)))
    else:
        os.utime(folder / "1.jsonl", (1e9, 1e9))
    look(follower)
    assert texts_of(reader, 1) == [["a0", "a1"], ["a2"]]


def test_that_samples_of_the_bridge_are_live_and_learn_their_scores(follow, reader, tmp_path):
    folder = tmp_path / "run/grpo_gui"
    start = bridge_line(0, "start", 0, steps_done=0, max_steps=9, name="mine", config={"epsilon": 0.1}, device="cpu")
    path = write_lines(folder / "rank0.jsonl", [start, *bridge_group(1, 1, 0)])
    follower = follow(tmp_path / "run")
    look(follower)
    (group,) = reader.groups_of_step(follower.run_id, 1)
    assert [sample.text for sample in group.completions] == ["0", "1"]
    assert group.completions[0].advantage != group.completions[0].advantage  # not known yet
    scores = {"generation": 0, "rows": [0, 1], "rewards": {"r": [1.0, None]}, "reward": [1.0, None]}
    write_lines(path, [bridge_line(3, "scores", 1, **scores, advantages=[0.7, "NaN"])], "a")
    update = {"generation": 0, "rows": [1, 0], "logps": [[-1, -2], [-1, -1]], "entropy": [[1, 1], [1, 1]]}
    write_lines(path, [bridge_line(4, "update", 1, **update)], "a")
    follower.poll()
    (group,) = reader.groups_of_step(follower.run_id, 1)
    assert group.completions[0].rewards == (("r", 1.0),)
    assert group.completions[0].advantage == 0.7
    assert group.completions[1].rewards == (("r", None),)
    assert group.completions[1].ratio_max == 1.0
    assert reader.run(follower.run_id).name == "mine"


def test_that_groups_split_over_ranks_come_together(follow, reader, tmp_path):
    folder = tmp_path / "grpo_gui"
    first, second = bridge_group(0, 1, 0)
    write_lines(folder / "rank0.jsonl", [first])
    write_lines(folder / "rank1.jsonl", [{**second, "rank": 1}])
    follower = follow(tmp_path)
    look(follower)
    (group,) = reader.groups_of_step(follower.run_id, 1)
    assert [sample.text for sample in group.completions] == ["0", "1"]


def test_that_a_follower_that_was_away_takes_up_open_samples(follow, writer, reader, tmp_path):
    path = write_lines(tmp_path / "grpo_gui/rank0.jsonl", bridge_group(0, 1, 0))
    first = follow(tmp_path)
    look(first)
    first.close()
    scores = {"generation": 0, "rows": [0, 1], "rewards": {"r": [1.0, 0.0]}, "reward": [1.0, 0.0]}
    write_lines(path, [bridge_line(2, "scores", 1, **scores, advantages=[0.7, -0.7])], "a")
    second = Follower(LocalPlace(tmp_path), writer)
    look(second)
    (group,) = reader.groups_of_step(second.run_id, 1)
    assert [sample.advantage for sample in group.completions] == [0.7, -0.7]
    assert reader.totals(second.run_id).samples.tolist() == [2]
    second.close()


def test_that_a_resumed_run_puts_aside_what_it_does_anew(follow, reader, tmp_path):
    path = tmp_path / "grpo_gui/rank0.jsonl"
    start = bridge_line(0, "start", 0, steps_done=0)
    metrics = [bridge_line(n, "metrics", n, values={"reward": 0.1}) for n in (1, 2, 3)]
    write_lines(path, [start, *metrics])
    follower = follow(tmp_path)
    look(follower)
    again = [{**bridge_line(4, "start", 1, steps_done=1), "session": "t"}]
    write_lines(path, [*again, bridge_line(5, "metrics", 2, values={"reward": 0.9})], "a")
    follower.poll()
    assert reader.points(follower.run_id, "reward").values.tolist() == [0.1, 0.9]


def test_that_the_end_and_a_failure_are_told(follow, writer, reader, tmp_path):
    path = write_lines(tmp_path / "grpo_gui/rank0.jsonl", [bridge_line(0, "metrics", 1, values={"reward": 0.1})])
    follower = follow(tmp_path)
    write_lines(path, [bridge_line(1, "end", 1, status="failed", message="CUDA is out of memory.")], "a")
    assert follower.run(threading.Event()) is RunStatus.FAILED
    run = reader.run(follower.run_id)
    assert (run.status, run.message) == (RunStatus.FAILED, "CUDA is out of memory.")


def test_that_the_failure_of_any_rank_is_that_of_the_run(follow, reader, tmp_path):
    write_lines(tmp_path / "grpo_gui/rank0.jsonl", [bridge_line(0, "metrics", 1, values={"reward": 0.1})])
    follower = follow(tmp_path)
    look(follower)
    line = bridge_line(0, "end", 1, status="failed", message="ValueError: no data") | {"rank": 1}
    write_lines(tmp_path / "grpo_gui/rank1.jsonl", [line])
    assert follower.run(threading.Event()) is RunStatus.FAILED
    assert reader.run(1).message == "ValueError: no data"


def test_that_a_stalled_run_is_shown_as_such(follow, writer, reader, tmp_path):
    follower = follow(write_lines(tmp_path / "log.jsonl", rows(1, 2)), quiet_s=0.0)
    look(follower)
    follower.poll()
    assert writer.flush()
    run = reader.run(follower.run_id)
    assert run.status is RunStatus.WAITING
    assert run.message.startswith("Nothing has come from this run for")


def test_that_the_usual_pace_decides_what_is_a_stall():
    clock = QuietClock(0.0, quiet_s=60.0)
    for step in range(1, 6):
        clock.news(step * 30.0, step)
    assert clock.stall(150.0 + 299.0) == ""
    assert "while a step took 30 s before" in clock.stall(150.0 + 301.0)


def test_that_commands_become_control_files(follow, writer, tmp_path):
    write_lines(tmp_path / "grpo_gui/rank0.jsonl", [bridge_line(0, "metrics", 1, values={"reward": 0.1})])
    control = ControlReader(tmp_path / "grpo_gui")
    follower = follow(tmp_path)
    look(follower)
    for command in (Pause(), SaveSnapshot(), ContinueWithout()):
        writer.post_command(follower.run_id, command)
    follower.poll()
    assert control.take() == ["pause", "snapshot", "continue"]
    assert control.take() == []


def rate(writer, run_id, values):
    writer.rate_group(
        RatingEvent(
            group=GroupRef(run_id, 1, 0),
            rater="me",
            mode="labels",
            values=values,
            positions=(0, 1),
            shown_s=1.0,
            first_key_s=1.5,
            submitted_s=2.0,
        )
    )


def test_that_ratings_of_the_window_reach_the_run(follow, writer, tmp_path):
    write_lines(tmp_path / "grpo_gui/rank0.jsonl", bridge_group(0, 1, 0))
    follower = follow(tmp_path)
    look(follower)
    rate(writer, follower.run_id, (1.0, 0.0))
    follower._way_back._looked_s = -1e9
    follower.poll()
    found = RatingReader(tmp_path / "grpo_gui").ratings("s", 0)
    assert found[0] > found[1]


def test_that_a_step_is_in_the_store_within_a_second(writer, reader, tmp_path):
    path = write_lines(tmp_path / "log.jsonl", rows(1, 1))
    follower, stop = Follower(LocalPlace(path), writer), threading.Event()
    thread = threading.Thread(target=follower.run, args=(stop,))
    thread.start()
    try:
        waiting = threading.Event()
        for step in range(1, 4):
            start = time.monotonic()
            while follower.run_id is None or reader.newest_step(follower.run_id) != step:
                assert time.monotonic() - start < 5
                waiting.wait(0.01)
            late_s = time.monotonic() - start
            write_lines(path, rows(step + 1, step + 1), "a")
        assert late_s < 1.0
    finally:
        stop.set()
        thread.join()


def test_that_a_folder_behind_ssh_is_followed(follow, writer, reader, ssh, tmp_path):
    path = write_lines(tmp_path / "far away/run/log.jsonl", rows(1, 2))
    place = SshPlace(f"ssh://me@host:2222{tmp_path}/far%20away/run", tmp_path / "cache")
    follower = follow(place)
    look(follower)
    write_lines(path, rows(3, 3), "a")
    look(follower)
    assert reader.points(follower.run_id, "reward").steps.tolist() == [1, 2, 3]
    write_lines(path, rows(1, 1, 0.7))  # begun anew
    look(follower)
    assert reader.points(follower.run_id, "reward").values.tolist() == [0.7]
    assert "-p 2222 -- me@host exec sh" in ssh.read_text()
    assert len(ssh.read_text().splitlines()) == 1  # one connection


def test_that_parquet_files_written_in_place_are_copied_whole(follow, reader, ssh, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(DATA / "trl_run", folder)
    target = folder / "completions/completions_00001.parquet"
    whole = target.read_bytes()
    target.write_bytes(whole[:500])
    follower = follow(SshPlace(f"ssh://host{folder}", tmp_path / "cache"))
    look(follower)
    assert reader.groups_of_step(follower.run_id, 1) == ()
    target.write_bytes(whole)
    look(follower)
    assert len(reader.groups_of_step(follower.run_id, 1)) == 2


def test_that_commands_and_ratings_travel_through_ssh(follow, writer, ssh, tmp_path):
    write_lines(tmp_path / "run/grpo_gui/rank0.jsonl", bridge_group(0, 1, 0))
    control = ControlReader(tmp_path / "run/grpo_gui")
    follower = follow(SshPlace(f"ssh://host{tmp_path}/run", tmp_path / "cache"))
    look(follower)
    writer.post_command(follower.run_id, Pause())
    writer.post_command(follower.run_id, SaveSnapshot())
    rate(writer, follower.run_id, (0.0, 1.0))
    follower._way_back._looked_s = -1e9
    follower.poll()
    assert control.take() == ["pause", "snapshot"]
    assert RatingReader(tmp_path / "run/grpo_gui").ratings("s", 0).keys() == {0, 1}


def test_that_a_machine_that_does_not_answer_is_named(follow, writer, reader, ssh, tmp_path):
    place = SshPlace("ssh://nobody/run", tmp_path / "cache")
    assert place.refresh() == ("nobody does not answer (ssh: could not resolve nobody); following tries again.")


@pytest.mark.parametrize("url", ["http://a/b", "ssh://", "ssh://host", "ssh://-oProxyCommand=x/a"])
def test_that_only_ssh_addresses_are_taken(url, tmp_path):
    with pytest.raises(BadInputError, match="no place to follow"):
        SshPlace(url, tmp_path)


def test_that_the_name_of_a_file_over_there_cannot_leave_the_copy(ssh, tmp_path, monkeypatch):
    place = SshPlace(f"ssh://host{tmp_path}/run", tmp_path / "cache")
    monkeypatch.setattr(place, "_run", lambda command: ["1 5 0.0 ../../evil.jsonl"])
    assert list(place._list()) == []


def test_that_lines_of_odd_records_are_no_obstacle(follow, reader, tmp_path):
    path = write_lines(tmp_path / "grpo_gui/rank0.jsonl", [bridge_line(0, "metrics", 1, values={"reward": 0.1})])
    with path.open("a") as file:
        file.write('{"v": 2}\nnot json\n' + json.dumps(bridge_line(1, "metrics", 2, values={"reward": 0.2})) + "\n")
    follower = follow(tmp_path)
    look(follower)
    assert reader.points(follower.run_id, "reward").steps.tolist() == [1, 2]
    (source,) = [one for one in reader.outside_sources(follower.run_id) if one.name == "grpo_gui"]
    assert source.problem.startswith("rank0.jsonl, line 2: version 2")
