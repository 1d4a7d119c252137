import math

import pytest

from grpo_gui.events import CompletionSample, RunStatus, TrainerStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import GroupRef
from grpo_gui.store.records_outside import (
    OutsideBatch,
    OutsideMetric,
    OutsideRun,
    OutsideStart,
    OutsideStep,
    SampleUpdate,
    SourceRecord,
)
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run


@pytest.fixture
def writer(tmp_path):
    writer = StoreWriter.open(tmp_path / "a.db")
    yield writer
    writer.close()


@pytest.fixture
def run_id(writer):
    return writer.create_run(new_run(origin="imported"))


@pytest.fixture
def reader(writer):
    with StoreReader(writer.path) as reader:
        yield reader


def metric(value, name="reward"):
    return OutsideMetric(name, f"raw/{name}", f"other/{name}/1", value)


def outside_step(number, value=0.5, **fields):
    return OutsideStep(**{"step": number, "metrics": (metric(value),), **fields})


def test_that_names_and_definitions_of_the_other_program_are_kept(writer, reader, run_id):
    writer.write_outside(run_id, OutsideBatch((), (outside_step(3, 0.5), outside_step(7, math.nan))))
    points = reader.points(run_id, "reward")
    assert (points.definition_id, points.steps.tolist()) == ("other/reward/1", [3, 7])
    assert points.values[0] == 0.5
    assert math.isnan(points.values[1])
    assert reader.raw_names(run_id) == {"reward": "raw/reward"}
    assert reader.totals(run_id).steps.tolist() == [3, 7]
    assert reader.run(run_id).steps_done == 7


def test_that_writing_twice_changes_nothing(writer, reader, run_id):
    batch = OutsideBatch((), tuple(outside_step(n, groups=(group(0), group(1))) for n in (1, 2)))
    writer.write_outside(run_id, batch)
    before = (reader.totals(run_id).samples.tolist(), reader.totals(run_id).tokens.tolist(), reader.run(run_id))
    writer.write_outside(run_id, batch)
    assert before == (reader.totals(run_id).samples.tolist(), reader.totals(run_id).tokens.tolist(), reader.run(run_id))
    assert before[0] == [8, 16]


def test_that_groups_of_an_older_step_that_come_late_count_from_there_on(writer, reader, run_id):
    writer.write_outside(run_id, OutsideBatch((), (outside_step(1), outside_step(2, groups=(group(0),)))))
    writer.write_outside(run_id, OutsideBatch((), (OutsideStep(1, groups=(group(0, seed=1),)),)))
    totals = reader.totals(run_id)
    assert totals.samples.tolist() == [4, 8]
    assert totals.advantage_counts.sum(axis=1).tolist() == [4, 4]
    assert reader.run(run_id).completions == 8


def test_that_groups_of_one_step_may_come_one_by_one(writer, reader, run_id):
    for index in (1, 0, 2):
        writer.write_outside(run_id, OutsideBatch(steps=(OutsideStep(1, groups=(group(index),)),)))
    assert [found.ref.index for found in reader.groups_of_step(run_id, 1)] == [0, 1, 2]
    assert reader.totals(run_id).samples.tolist() == [12]


def test_that_a_contradiction_after_a_restart_puts_the_old_steps_aside(writer, reader, run_id):
    writer.write_outside(run_id, OutsideBatch((), tuple(outside_step(n) for n in (1, 2, 3))))
    again = tuple(outside_step(n, value, may_restart=True) for n, value in ((1, 0.5), (2, 0.75)))
    writer.write_outside(run_id, OutsideBatch((), again))
    assert reader.points(run_id, "reward").values.tolist() == [0.5, 0.75]
    assert reader.totals(run_id).steps.tolist() == [1, 2]
    assert [part.values.tolist() for part in reader.superseded_points(run_id, "reward")] == [[0.5, 0.5]]


def test_that_a_start_counts_once(writer, reader, run_id):
    first, second = OutsideStart("a", 0, (("trl", "1.0"),), "cpu"), OutsideStart("b", 1)
    steps = tuple(outside_step(n) for n in (1, 2))
    writer.write_outside(run_id, OutsideBatch((first,), steps))
    assert (reader.run(run_id).device, reader.run(run_id).versions) == ("cpu", (("trl", "1.0"),))
    writer.write_outside(run_id, OutsideBatch((second,), (outside_step(2, 0.9),)))
    writer.write_outside(run_id, OutsideBatch((first, second)))
    assert reader.points(run_id, "reward").values.tolist() == [0.5, 0.9]
    assert len(reader.seams(run_id)) == 1


def test_that_a_sample_learns_its_advantage_and_tokens_later(writer, reader, run_id):
    bare = CompletionSample(
        *(0, "9", (), (), False, None, None, (), math.nan, b"", b"", b"", b"", b"", math.nan, math.nan, math.nan),
        *(math.nan, None, None),
    )
    writer.write_outside(
        run_id, OutsideBatch((), (OutsideStep(1, groups=(group(0, completions=(bare,)),)), outside_step(2)))
    )
    full = completion(0, "9", advantage=1.5, reward=1.0)
    writer.write_outside(run_id, OutsideBatch(updates=(SampleUpdate(1, 0, full),)))
    (stored,) = reader.group(GroupRef(run_id, 1, 0)).completions
    assert stored == full
    assert reader.totals(run_id).tokens.tolist() == [2, 2]
    assert reader.totals(run_id).advantage_counts.sum() == 1


def test_that_an_evaluation_makes_no_step(writer, reader, run_id):
    evaluation = OutsideStep(5, (metric(0.25, "eval/reward"),), is_evaluation=True)
    writer.write_outside(run_id, OutsideBatch((), (evaluation,)))
    assert reader.newest_step(run_id) is None
    assert reader.points(run_id, "eval/reward").values.tolist() == [0.25]


def test_that_places_digests_and_sources_are_found_again(writer, reader, run_id):
    writer.save_outside_run(OutsideRun(run_id, "/a", "trl", "abc", "All."))
    source = SourceRecord("log.jsonl", "1:2:x", 17, '{"line": 3}', "log.jsonl, line 2: no JSON.")
    writer.write_outside(run_id, OutsideBatch(sources=(source,)))
    assert reader.outside_sources(run_id) == (source,)
    assert reader.find_outside_run("/a").summary == "All."
    assert reader.find_outside_run("/b", "abc").run_id == run_id
    assert reader.find_outside_run("/b") is None


def test_that_a_run_in_the_bin_is_not_found_again(writer, reader, run_id):
    writer.save_outside_run(OutsideRun(run_id, "/a", "trl", "abc", ""))
    writer.emit(TrainerStatus(run_id, RunStatus.FINISHED, 0))
    assert writer.flush()
    writer.move_to_bin(run_id)
    assert reader.find_outside_run("/a", "abc") is None
