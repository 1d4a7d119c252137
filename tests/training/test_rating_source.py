"""Ratings that reach a trainer through the database, as in the window, a background process and a headless run."""

import queue
import time
from contextlib import closing

import pytest

from grpo_gui.commands import ContinueWithout, Pause, Resume, SetHyperparameters, SetRatingMode, Stop
from grpo_gui.events import GroupRef, RatingModeSet, RunStatus, StepCompleted, TrainerStatus
from grpo_gui.rating_events import RatingEvent
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import NewRun
from grpo_gui.store.writer import StoreWriter
from grpo_gui.training.config import RewardSpec, TrainConfig
from grpo_gui.training.headless import resume_headless, train_headless
from grpo_gui.training.rating_source import StoredRatings
from grpo_gui.training.resuming import config_to_resume
from grpo_gui.training.runner import claim_new_run, run_in_foreground
from grpo_gui.training.validation import config_to_json
from tests.training.test_rating import human_config


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


def ranking(ref, size=4):
    now = time.time()
    return RatingEvent(ref, "mara", "ranks", tuple(range(1, size + 1)), tuple(range(size)), now - 3, now - 2, now)


class RatedWriter:
    """The store's writer as a sink that rates groups as soon as they are committed."""

    def __init__(self, writer, commands, react):
        self._writer, self._commands, self._react = writer, commands, react

    def emit(self, event):
        self._writer.emit(event)
        self._react(self._writer, event, self._commands)

    def congestion(self):
        return self._writer.congestion()

    def flush(self, timeout_s):
        return self._writer.flush(timeout_s)

    def write_ms(self):
        return self._writer.write_ms()


def train(config: TrainConfig, path, folder, react, **run):
    writer, commands = StoreWriter.open(path), queue.SimpleQueue()
    try:
        new = NewRun("rated", config.task, config_to_json(config), config.seed, "cpu", **run)
        run_id = writer.create_run(new)
        sink = RatedWriter(writer, commands, react)
        status = run_in_foreground(
            config, claim_new_run(run_id, folder, sink), sink, commands, ratings=StoredRatings(path, run_id)
        )
        assert status is RunStatus.FINISHED
        return run_id
    finally:
        writer.close()


def test_that_a_rating_in_the_database_is_learned_from_and_told_there(tiny_model, tmp_path, path):
    def react(writer, event, commands):
        if isinstance(event, StepCompleted) and event.step == 1:
            writer.flush()
            writer.rate_group(ranking(GroupRef(event.run_id, 1, 2)))

    run_id = train(human_config(tiny_model, steps=3, beta=0.0), path, tmp_path / "run", react)
    with StoreReader(path) as reader:
        (stored,) = reader.group_ratings(run_id)
        assert (stored.used_step, stored.expired_step) == (2, None)
        human = [dict(one.rewards)["human"] for one in reader.group(GroupRef(run_id, 1, 2)).completions]
        assert human == pytest.approx([1.34164, 0.44721, -0.44721, -1.34164], abs=1e-5)
        assert reader.points(run_id, "check/weights_change").values.tolist()[0] == 0
        assert reader.points(run_id, "check/weights_change").values.tolist()[1] > 0
        assert reader.points(run_id, "ratings/used").values.tolist() == [0, 1, 0]


def test_that_a_waiting_run_finds_the_ratings_of_its_stored_groups(tiny_model, tmp_path, path):
    def react(writer, event, commands):
        if isinstance(event, TrainerStatus) and event.status is RunStatus.WAITING:
            writer.flush()
            for index in (0, 1):
                writer.rate_group(ranking(GroupRef(event.run_id, event.step + 1, index)))

    config = human_config(tiny_model, steps=2, rating_mode="wait")
    run_id = train(config, path, tmp_path / "run", react)
    with StoreReader(path) as reader:
        assert [one.used_step for one in reader.group_ratings(run_id)] == [1, 1, 2, 2]
        assert reader.run(run_id).completions == 32


def test_that_late_groups_keep_the_temperature_at_which_they_were_sampled(tiny_model, tmp_path, path):
    def react(writer, event, commands):
        if isinstance(event, StepCompleted) and event.step == 1:
            commands.put(SetHyperparameters(temperature=0.5))

    config = human_config(tiny_model, steps=3)
    run_id = train(config, path, tmp_path / "run", react)
    source = StoredRatings(path, run_id)
    source.entries(0)
    found = [source.group(GroupRef(run_id, step, 0)).temperature for step in (1, 2, 3)]
    source.close()
    assert found == [1.0, 0.5, 0.5]


def test_that_a_branch_learns_from_the_ratings_of_its_parents_past_only(tiny_model, tmp_path, path):
    config = human_config(tiny_model, steps=3)
    parent = train(config, path, tmp_path / "parent", lambda *_: None)
    writer = StoreWriter.open(path)
    for step in (1, 2, 3):
        writer.rate_group(ranking(GroupRef(parent, step, 0)))
    child = writer.create_run(
        NewRun("child", config.task, config_to_json(config), 0, "cpu", parent_run_id=parent, parent_step=2)
    )
    writer.close()
    source = StoredRatings(path, child)
    assert [entry.event.group.step for entry in source.entries(0)] == [1, 2]
    assert source.group(GroupRef(parent, 1, 0)).size == 4
    assert source.group(GroupRef(parent + 5, 1, 0)) is None
    assert source.entries(2) == ()
    source.close()


def headless(config, path, watch=lambda event: None):
    run_ids = []
    train_headless(
        config, path, commands=queue.SimpleQueue(), watch=watch, started=run_ids.append, found=lambda finding: None
    )
    return run_ids[0]


class OtherWindow:
    """A window on the database of a headless run: answers the first time that the run is in a state."""

    def __init__(self, path, answers):
        self._path, self._answers = path, dict(answers)
        self.seen = []

    def watch(self, event):
        if not isinstance(event, TrainerStatus):
            return
        self.seen.append(event.status)
        answer = self._answers.pop(event.status, None)
        if answer is not None:
            with closing(StoreWriter.open(self._path)) as writer:
                writer.post_command(event.run_id, answer)


def test_that_a_headless_run_that_waits_is_told_from_a_window_to_continue_without(tiny_model, path):
    window = OtherWindow(path, {RunStatus.WAITING: ContinueWithout()})
    run_id = headless(human_config(tiny_model, steps=1, rating_mode="wait"), path, window.watch)
    assert window.seen[-1] is RunStatus.FINISHED
    with StoreReader(path) as reader:
        assert reader.run(run_id).steps_done == 1


def test_that_a_headless_run_goes_on_after_a_pause_that_a_window_asked_for(tiny_model, path):
    answers = {RunStatus.WAITING: Pause(), RunStatus.PAUSED: SetRatingMode("async")}
    window = OtherWindow(path, answers)

    def resume(event):
        window.watch(event)
        if isinstance(event, RatingModeSet):
            with closing(StoreWriter.open(path)) as writer:
                writer.post_command(event.run_id, Resume())

    run_id = headless(human_config(tiny_model, steps=2, rating_mode="wait"), path, resume)
    assert window.seen[-1] is RunStatus.FINISHED
    with StoreReader(path) as reader:
        assert reader.run(run_id).steps_done == 2


def test_that_a_resumed_headless_run_hears_new_commands_and_no_old_ones(tiny_model, path):
    run_id = headless(human_config(tiny_model, steps=1), path)
    with closing(StoreWriter.open(path)) as writer:
        writer.post_command(run_id, Stop())  # left over
        writer.emit(RatingModeSet(run_id, 1, "wait"))
        assert writer.flush(10)
    with StoreReader(path) as reader:
        run = reader.run(run_id)
    window = OtherWindow(path, {RunStatus.WAITING: ContinueWithout()})
    ended = resume_headless(
        run,
        config_to_resume(run, "+1"),
        path,
        snapshot=None,
        commands=queue.SimpleQueue(),
        watch=window.watch,
        found=lambda finding: None,
    )
    assert ended is RunStatus.FINISHED
    assert RunStatus.WAITING in window.seen


def test_that_an_offline_run_works_from_start_to_end(tiny_model, path):
    """Sample, rate the stored groups, resume: the only reward is that of people."""
    said = []
    config = human_config(tiny_model, steps=2, rating_mode="offline", beta=0.0)
    run_id = headless(config, path, lambda event: said.append(getattr(event, "message", "")))
    assert any("Rate more in the window's Rate view, then resume it." in sentence for sentence in said)
    writer = StoreWriter.open(path)
    for index in range(4):
        writer.rate_group(ranking(GroupRef(run_id, 1, index)))
    writer.close()
    with StoreReader(path) as reader:
        run = reader.run(run_id)
    ended = resume_headless(
        run,
        config_to_resume(run, "+3"),
        path,
        snapshot=None,
        commands=queue.SimpleQueue(),
        watch=lambda event: None,
        found=lambda finding: None,
    )
    assert ended is RunStatus.FINISHED
    with StoreReader(path) as reader:
        assert [one.used_step for one in reader.group_ratings(run_id)] == [3, 3, 3, 3]
        assert reader.points(run_id, "ratings/used").values.tolist() == [0, 0, 4, 4, 4]
        assert (reader.points(run_id, "check/weights_change").values > 0).tolist() == [False, False, True, True, True]


def test_that_a_headless_run_says_that_nothing_is_learned_without_ratings(tiny_model, path):
    said = []
    headless(human_config(tiny_model, steps=1), path, lambda event: said.append(getattr(event, "message", "")))
    assert any("the model stays as it is until groups are rated" in sentence for sentence in said)


def test_that_a_blend_with_the_program_says_nothing_of_the_kind(tiny_model, path):
    said = []
    both = (RewardSpec("length", "length", argument="3"), RewardSpec("human", "human"))
    config = human_config(tiny_model, steps=1, rewards=both)
    headless(config, path, lambda event: said.append(getattr(event, "message", "")))
    assert not any("ratings" in sentence.lower() for sentence in said)
