import math
import os
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from grpo_gui.errors import StoreError
from grpo_gui.events import (
    GroupRef,
    GroupsSampled,
    RatingModeSet,
    RatingsSettled,
    RatingUse,
    RunStarted,
)
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step

TIMES = {"shown_s": 10.0, "first_key_s": 11.0, "submitted_s": 15.0}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def writer(path):
    writer = StoreWriter.open(path)
    yield writer
    writer.close()


@pytest.fixture
def run_id(writer):
    run_id = writer.create_run(new_run())
    writer.emit(step(run_id, 1))
    writer.emit(step(run_id, 2))
    assert writer.flush()
    return run_id


def rating(run_id, number=1, index=0, mode="scores", values=(1, 2, None, 5), **fields):
    defaults = {"rater": "mara", "positions": (3, 1, 0, 2), **TIMES}
    return RatingEvent(GroupRef(run_id, number, index), mode=mode, values=values, **defaults | fields)


def undo(run_id, rating_id, **fields):
    return rating(run_id, mode="undone", values=(), positions=(), undoes=rating_id, **fields)


def test_that_a_rating_is_read_back_as_it_was_given(writer, run_id, path):
    given = (
        rating(run_id, tags=((1, "wrong \ud800"), (3, "odd")), note="NUL \0", reason="its answers differ"),
        rating(run_id, 2, 1, "ranks", (1, 2, 2, 4), first_key_s=None, is_repeat=True, is_audit=True),
        rating(run_id, 2, 0, "pairs", (None,) * 4, pairs=((0, 1, 1.0), (2, 3, 0.5))),
        rating(run_id, 1, 1, "all_bad", (None,) * 4),
        undo(run_id, 1),
    )
    ids = [writer.rate_group(one) for one in given]
    with StoreReader(path) as reader:
        stored = reader.group_ratings(run_id)
        assert [one.event for one in stored] == list(given)
        assert [one.id for one in stored] == ids == [1, 2, 3, 4, 5]
        assert [one.is_undone for one in stored] == [True, False, False, False, False]
        assert reader.group_ratings(run_id, after_id=3) == stored[3:]
        assert reader.group_ratings() == stored
        assert reader.group_ratings(run_id + 1) == ()
        assert reader.newest_rating() == 5


def test_that_ratings_are_never_changed(writer, run_id, path):
    writer.rate_group(rating(run_id, pairs=((0, 1, 1.0),)))
    with sqlite3.connect(path) as connection:
        for table in ("ratings", "rating_values", "rating_pairs"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(
                    f"UPDATE {table} SET rating_id = rating_id"
                    if table != "ratings"
                    else "UPDATE ratings SET note = 'x'"
                )
    connection.close()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"number": 9}, "not in the database any more"),
        ({"values": (1, 2)}, "has 4 completions"),
        ({"mode": "stars"}, "mode is one of"),
        ({"undoes": 1}, "Only a rating of the mode 'undone'"),
    ],
)
def test_that_a_rating_that_does_not_fit_is_refused_whole(writer, run_id, path, changes, words):
    with pytest.raises(StoreError, match=words):
        writer.rate_group(rating(run_id, **changes))
    with StoreReader(path) as reader:
        assert reader.group_ratings() == ()


def test_that_what_updates_did_is_told_and_stands_beside_the_other_rewards(writer, path):
    run_id = writer.create_run(new_run())
    both = tuple(completion(n, "ab"[n % 2], rewards=(("exact", 1.0), ("human", None)), reward=1.0) for n in range(4))
    writer.emit(step(run_id, 1, groups=(group(0, completions=both), group(1, completions=both))))
    writer.flush()
    first, second = writer.rate_group(rating(run_id)), writer.rate_group(rating(run_id, 1, 1))
    ref = GroupRef(run_id, 1, 0)
    writer.emit(
        RatingsSettled(
            run_id,
            4,
            (
                RatingUse(ref, (first,), "used", (-1.0, 0.0, None, 1.0)),
                RatingUse(GroupRef(run_id, 1, 1), (second,), "expired", (1.0,) * 4),
            ),
        )
    )
    writer.flush()
    with StoreReader(path) as reader:
        used, expired = reader.group_ratings(run_id)
        assert (used.used_step, used.expired_step) == (4, None)
        assert (expired.used_step, expired.expired_step) == (None, 4)
        human = [dict(one.rewards)["human"] for one in reader.group(ref).completions]
        assert human == [-1.0, 0.0, None, 1.0]
        assert [dict(one.rewards)["exact"] for one in reader.group(ref).completions] == [1.0] * 4
        unused = reader.group(GroupRef(run_id, 1, 1)).completions
        assert [dict(one.rewards)["human"] for one in unused] == [None] * 4
        assert reader.ratable_groups(run_id)[0].program == (1.0,) * 4  # people are no program


def test_that_the_program_is_the_weighted_sum_of_the_other_sources(writer, path):
    config = '{"rewards": [{"name": "exact", "weight": 2}, {"name": "length", "weight": -0.5}, {"name": "human"}]}'
    run_id = writer.create_run(new_run(config=config))
    rewards = (("exact", 1.0), ("length", 0.5), ("human", 9.0))
    spoke, silent = completion(0, rewards=rewards), completion(1, rewards=(("exact", None), ("human", 9.0)))
    writer.emit(step(run_id, 1, groups=(group(0, completions=(spoke, silent)),)))
    writer.emit(step(run_id, 2))
    writer.flush()
    with StoreReader(path) as reader:
        newest, *_, oldest = reader.ratable_groups(run_id)
        assert (newest.ref.step, oldest.ref.step) == (2, 1)
        assert oldest.program == (1.75, None)
        assert oldest.texts == ("9.9", "9.9")
        assert {one.ref.step for one in reader.ratable_groups(run_id, after_step=1)} == {2}


def test_that_resuming_from_an_earlier_step_puts_its_ratings_and_uses_aside(writer, run_id, path):
    kept = writer.rate_group(rating(run_id, 1))
    gone = writer.rate_group(rating(run_id, 2))
    writer.emit(RatingsSettled(run_id, 2, (RatingUse(GroupRef(run_id, 1, 0), (kept,), "used", (1.0,) * 4),)))
    writer.emit(RatingModeSet(run_id, 2, "wait"))
    writer.flush()
    with StoreReader(path) as reader:
        assert [(one.id, one.used_step) for one in reader.group_ratings(run_id)] == [(kept, 2), (gone, None)]
        assert reader.rating_mode(run_id) == "wait"
        writer.emit(RunStarted(run_id, 1, "cpu", 5, ()))
        writer.flush()
        assert [(one.id, one.used_step) for one in reader.group_ratings(run_id)] == [(kept, None)]
        assert reader.rating_mode(run_id) is None
        assert reader.run(run_id).completions == 8


def test_that_groups_that_wait_can_be_rated_and_keep_their_ratings_when_the_step_is_done(writer, run_id, path):
    done = step(run_id, 3)
    writer.emit(GroupsSampled(run_id, 3, done.groups))
    writer.flush()
    first = writer.rate_group(rating(run_id, 3))
    changed = replace(done.groups[0].completions[0], advantage=1.5, kl_max=math.inf)
    groups = (replace(done.groups[0], completions=(changed, *done.groups[0].completions[1:])), done.groups[1])
    writer.emit(replace(done, groups=groups))
    writer.flush()
    with StoreReader(path) as reader:
        assert reader.run(run_id).completions == 24
        stored = reader.group(GroupRef(run_id, 3, 0))
        assert stored.completions == groups[0].completions
        assert [one.id for one in reader.group_ratings(run_id)] == [first]
        assert len(reader.groups_of_step(run_id, 3)) == 2


def test_that_groups_sampled_anew_with_other_texts_put_the_waiting_ones_aside(writer, run_id, path):
    writer.emit(GroupsSampled(run_id, 3, step(run_id, 3).groups))
    writer.flush()
    writer.rate_group(rating(run_id, 3))
    writer.emit(GroupsSampled(run_id, 3, step(run_id, 33).groups))
    writer.emit(step(run_id, 3, groups=step(run_id, 33).groups))
    writer.flush()
    with StoreReader(path) as reader:
        assert reader.group_ratings(run_id) == ()
        assert reader.group(GroupRef(run_id, 3, 0)).completions == step(run_id, 33).groups[0].completions
        assert reader.run(run_id).completions == 24


def test_that_waiting_groups_are_not_counted_when_the_run_is_resumed_earlier(writer, run_id, path):
    writer.emit(GroupsSampled(run_id, 3, step(run_id, 3).groups))
    writer.emit(RunStarted(run_id, 1, "cpu", 5, ()))
    writer.flush()
    with StoreReader(path) as reader:
        assert reader.run(run_id).completions == 8
        assert reader.groups_of_step(run_id, 3) == ()


_RATE_FOR_EVER = """
import sys
from pathlib import Path
from grpo_gui.store.writer import StoreWriter
from tests.store.test_rating import rating
writer = StoreWriter.open(Path(sys.argv[1]))
while True:
    print(writer.rate_group(rating(int(sys.argv[2]))), flush=True)
"""


def test_that_killing_the_program_loses_no_submitted_rating(writer, run_id, path):
    writer.close()
    process = subprocess.Popen(
        [sys.executable, "-c", _RATE_FOR_EVER, str(path), str(run_id)], stdout=subprocess.PIPE, text=True
    )
    submitted = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    rest, _ = process.communicate()
    submitted += [int(line) for line in rest.splitlines()]
    with StoreReader(path) as reader:
        kept = [one.id for one in reader.group_ratings(run_id)]
    assert kept[: len(submitted)] == submitted
    assert len(kept) <= len(submitted) + 1  # the last one was committed before it could be told


def test_that_a_finished_run_can_be_deleted_with_its_ratings(writer, run_id, path):
    first = writer.rate_group(rating(run_id))
    writer.rate_group(undo(run_id, first))
    writer.emit(RatingsSettled(run_id, 2, (RatingUse(GroupRef(run_id, 1, 0), (first,), "used", (1.0,) * 4),)))
    writer.flush()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE runs SET status = 'finished'")
    connection.close()
    writer.move_to_bin(run_id)
    writer.begin_deleting(run_id)
    while writer.delete_some(run_id) is not None:
        pass
    with StoreReader(path) as reader:
        assert reader.group_ratings() == ()
