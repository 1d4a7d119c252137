import dataclasses
import math
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grpo_gui.events import (
    CompletionSample,
    EvalCompleted,
    GroupSample,
    HyperparameterChanged,
    RunFailed,
    RunStarted,
    RunStatus,
    StateSaved,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.grpo.definitions import definition_of
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import ChangeRecord, CompletionQuery, GroupRef
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import completion, group, new_run, step

FLOATS = st.floats(width=64)
MAYBE = st.none() | FLOATS
# All of Unicode with NUL and lone surrogates.
TEXT = st.text(st.characters(), max_size=20)
BLOB = st.binary(max_size=24)


def same(left, right):
    """Equality where NaN equals NaN and 0.0 differs from None."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if dataclasses.is_dataclass(left):
        return type(left) is type(right) and all(
            same(getattr(left, field.name), getattr(right, field.name)) for field in dataclasses.fields(left)
        )
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@st.composite
def completions(draw, index):
    ids = tuple(draw(st.lists(st.integers(0, 70_000), max_size=6)))
    return CompletionSample(
        index=index,
        text=draw(TEXT),
        token_ids=ids,
        tokens=tuple(draw(st.lists(TEXT, min_size=len(ids), max_size=len(ids)))),
        truncated=draw(st.booleans()),
        correct=draw(st.none() | st.booleans()),
        reward=draw(MAYBE),
        rewards=tuple((name, draw(MAYBE)) for name in draw(st.lists(TEXT, max_size=3, unique=True))),
        advantage=draw(FLOATS),
        old_logps=draw(BLOB),
        logps=draw(BLOB),
        ref_logps=draw(BLOB),
        entropy=draw(BLOB),
        clipped=draw(BLOB),
        ratio_min=draw(FLOATS),
        ratio_max=draw(FLOATS),
        clip_fraction_low=draw(FLOATS),
        clip_fraction_high=draw(FLOATS),
        kl_mean=draw(MAYBE),
        kl_max=draw(MAYBE),
    )


@st.composite
def groups(draw, index):
    return GroupSample(
        index=index,
        task=draw(TEXT),
        prompt=draw(TEXT),
        answer=draw(st.none() | TEXT),
        prompt_token_ids=tuple(draw(st.lists(st.integers(0, 2**32 - 1), max_size=5))),
        completions=tuple(draw(completions(i)) for i in range(draw(st.integers(0, 3)))),
    )


METRICS = st.lists(st.tuples(TEXT, FLOATS), max_size=4, unique_by=lambda entry: entry[0]).map(tuple)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "a.db"
    writer = StoreWriter.open(path)
    with StoreReader(path) as reader:
        yield writer, reader
    writer.close()


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_that_every_field_of_a_step_comes_back_as_it_was(store, data):
    writer, reader = store
    run_id = writer.create_run(new_run())
    event = StepCompleted(
        run_id=run_id,
        step=data.draw(st.integers(1, 10**9)),
        optimizer_step=data.draw(st.integers(0, 10**9)),
        time_s=data.draw(FLOATS),
        metrics=data.draw(METRICS),
        groups=tuple(data.draw(groups(i)) for i in range(data.draw(st.integers(0, 3)))),
    )
    writer.emit(event)
    assert writer.flush()
    assert writer.problem is None
    for sample in event.groups:
        record = reader.group(GroupRef(run_id, event.step, sample.index))
        for name in ("task", "prompt", "answer", "prompt_token_ids", "completions"):
            assert same(getattr(record, name), getattr(sample, name)), name
    for name, value in event.metrics:
        points = reader.points(run_id, name)
        assert points.steps.tolist() == [event.step]
        assert same(points.values.tolist()[0], value)
    totals = reader.totals(run_id)
    assert totals.optimizer_steps.tolist() == [event.optimizer_step]
    assert same(totals.times_s.tolist()[0], event.time_s)
    assert set(reader.tasks(run_id)) == {sample.task for sample in event.groups}
    found = sum(len(sample.completions) for sample in event.groups)
    assert reader.count(CompletionQuery(run_id))[0] == found == totals.samples.tolist()[0]
    assert len(reader.completion_page(CompletionQuery(run_id)).rows) == found


@settings(deadline=None, max_examples=40)
@given(text=TEXT, old=MAYBE, new=MAYBE, metrics=METRICS)
def test_that_every_field_of_the_other_events_comes_back_as_it_was(store, text, old, new, metrics):
    writer, reader = store
    run_id = writer.create_run(new_run(name=text, task=text, device=text))
    assert (reader.run(run_id).name, reader.run(run_id).task, reader.run(run_id).device) == (text, text, text)
    writer.emit(RunStarted(run_id, 0, text, 816_768, (("torch", text),)))
    writer.emit(TrainerStatus(run_id, RunStatus.PAUSED, 3, text))
    writer.emit(EvalCompleted(run_id, 3, 1e9, metrics))
    writer.emit(HyperparameterChanged(run_id, 4, text, old, new))
    writer.emit(StateSaved(run_id, 4, text))
    note_id = writer.add_note(run_id, 4, text)
    assert writer.flush()
    assert writer.problem is None
    run = reader.run(run_id)
    assert (run.device, run.parameters, run.versions) == (text, 816_768, (("torch", text),))
    assert (run.status, run.message, run.state_path) == (RunStatus.PAUSED, text, text)
    assert same(run.final_metrics, metrics)
    assert same(reader.changes(run_id), (ChangeRecord(4, text, old, new),))
    (note,) = reader.notes(run_id)
    assert (note.id, note.step, note.text) == (note_id, 4, text)


@pytest.mark.parametrize("status", RunStatus)
def test_that_every_status_comes_back_and_an_end_has_a_time(store, status):
    writer, reader = store
    run_id = writer.create_run(new_run())
    writer.emit(TrainerStatus(run_id, status, 0))
    assert writer.flush()
    run = reader.run(run_id)
    assert run.status is status
    assert (run.ended_s is None) == status.is_active


def test_that_a_failure_keeps_its_sentence_and_traceback(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    writer.emit(RunFailed(run_id, 2, "The loss is not finite.", "Traceback ..."))
    assert writer.flush()
    run = reader.run(run_id)
    assert (run.status, run.message) == (RunStatus.FAILED, "The loss is not finite.")
    assert reader._connection.row("SELECT traceback FROM runs WHERE id = ?", (run_id,)) == ("Traceback ...",)


def test_that_a_run_record_holds_what_was_asked_for(store):
    writer, reader = store
    parent = writer.create_run(new_run())
    run_id = writer.create_run(new_run(seed=-5, origin="headless", parent_run_id=parent, parent_step=3))
    run = reader.run(run_id)
    assert run == reader.runs()[0]
    assert (run.seed, run.origin, run.parent_run_id, run.parent_step) == (-5, "headless", parent, 3)
    assert (run.status, run.steps_done, run.completions) == (RunStatus.WARMING_UP, 3, 0)
    assert run.program.startswith("grpo-gui ")
    assert run.created_s > 1.6e9


def test_that_the_reader_says_none_for_what_is_not_there(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    assert reader.run(10**9) is None
    assert reader.group(GroupRef(run_id, 1, 0)) is None
    assert reader.groups_of_step(run_id, 1) == ()
    assert reader.newest_step(run_id) is None
    assert len(reader.points(run_id, "reward").steps) == 0
    assert reader.totals(run_id).advantage_counts.shape == (0, 27)
    assert reader.completion_page(CompletionQuery(run_id)).rows == ()
    assert reader.group_page(CompletionQuery(run_id, sort="kl_high")).groups == ()
    assert reader.count(CompletionQuery(run_id, correct=True)) == (0, 0)


def test_that_a_very_long_completion_comes_back(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    count = 50_000
    blob = struct.pack(f"<{count}f", *range(count))
    tokens = tuple(map(str, range(count)))
    long = completion(0, "💡" * 300_000, token_ids=tuple(range(count)), tokens=tokens, logps=blob)
    writer.emit(step(run_id, 1, groups=(group(0, completions=(long,)),)))
    assert writer.flush()
    assert reader.group(GroupRef(run_id, 1, 0)).completions == (long,)


def test_that_each_curve_carries_the_definition_of_its_run(store):
    writer, reader = store
    config = '{"loss_type": "dapo", "scale_rewards": "none"}'
    run_id = writer.create_run(new_run(config=config))
    metrics = (("loss", 1.0), ("rewards/exact/mean", 0.5), ("my/own", 1.0))
    writer.emit(step(run_id, 1, metrics=metrics))
    assert writer.flush()
    options = {"loss_type": "dapo", "scale_rewards": "none"}
    for name, _ in metrics:
        assert reader.points(run_id, name).definition_id == definition_of(name, options).definition_id
    assert reader.series_names(run_id) == ("loss", "rewards/exact/mean", "my/own")


def test_that_totals_add_up_and_advantages_are_counted(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    advantages = (-9.0, -2.6, 0.0, 2.59, 2.6, math.inf, math.nan)
    samples = tuple(completion(i, "12", advantage=value) for i, value in enumerate(advantages))
    for number in (1, 2, 3):
        writer.emit(step(run_id, number, groups=(group(0, completions=samples),)))
    assert writer.flush()
    totals = reader.totals(run_id)
    assert totals.samples.tolist() == [7, 14, 21]
    assert totals.tokens.tolist() == [21, 42, 63]
    counts = totals.advantage_counts[0]
    assert (counts[0], counts[13], counts[26], counts.sum()) == (2, 1, 3, 6)
    assert reader.totals(run_id, after_step=2).samples.tolist() == [21]
    assert reader.points(run_id, "reward", after_step=1).steps.tolist() == [2, 3]


def test_that_a_prompt_is_stored_once_and_kept_apart_from_one_with_another_answer(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    asked = [("1+1?", "2"), ("1+1?", "2"), ("1+1?", None), ("1+1?", "")]
    parts = tuple(
        group(i, prompt=prompt, answer=answer, prompt_token_ids=(1, 5)) for i, (prompt, answer) in enumerate(asked)
    )
    writer.emit(step(run_id, 1, groups=parts))
    assert writer.flush()
    assert [record.answer for record in reader.groups_of_step(run_id, 1)] == ["2", "2", None, ""]
    assert reader._connection.row("SELECT count(*) FROM prompts WHERE prompt = '1+1?'") == (3,)


def test_that_a_token_with_two_texts_keeps_both(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    samples = (
        completion(0, "a", token_ids=(5, 2), tokens=("a", "<eos>")),
        completion(1, "b", token_ids=(5, 2), tokens=("b", "<eos>")),
        completion(2, "c", token_ids=(5, 2), tokens=("only one",)),
    )
    writer.emit(step(run_id, 1, groups=(group(0, completions=samples),)))
    assert writer.flush()
    assert reader.group(GroupRef(run_id, 1, 0)).completions == samples


def test_that_views_answer_the_common_questions_in_plain_sql(store):
    writer, reader = store
    run_id = writer.create_run(new_run())
    event = step(run_id, 1, prompts=2, size=4)
    writer.emit(event)
    assert writer.flush()

    def ask(sql):
        return reader._connection.rows(sql, (run_id,))

    texts = [sample.text for part in event.groups for sample in part.completions]
    assert [row[0] for row in ask("SELECT text FROM completion_list WHERE run_id = ? ORDER BY id")] == texts
    assert [row[0] for row in ask("SELECT prompt FROM group_list WHERE run_id = ? ORDER BY id")] == [
        part.prompt for part in event.groups
    ]
    assert dict(ask("SELECT name, value FROM step_metrics WHERE run_id = ?")) == dict(event.metrics)
    rewards = [sample.reward for part in event.groups for sample in part.completions]
    assert ask("SELECT source, mean, completions FROM reward_by_source WHERE run_id = ?") == [
        ("exact", sum(rewards) / 8, 8)
    ]
