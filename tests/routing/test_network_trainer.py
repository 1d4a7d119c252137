"""The network in its thread: it learns, shows as a run, takes over when it is better for certain, and comes back."""

from dataclasses import replace

import pytest

from grpo_gui.errors import BadInputError, ModelError
from grpo_gui.events import RunFailed, RunStarted, RunStatus, StepCompleted, TrainerStatus
from grpo_gui.router.learner import NetworkLearner
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router_events import RouterNetworkStarted, RouterPromoted
from grpo_gui.routing.candidate import LEAST_GAIN
from grpo_gui.routing.network_trainer import NetworkTrainer
from grpo_gui.store.reader import StoreReader
from grpo_gui.training.resuming import begins_anew, config_to_resume
from tests.router.test_network import rated


class Book:
    """A RunBook in memory."""

    def __init__(self):
        self.events, self.opened = [], []

    def open_run(self, config, seed, device, step):
        self.opened.append((config, seed, device, step))
        return 7

    def known_run(self, config, steps):
        return 7

    def emit(self, event):
        self.events.append(event)


def trainer_of(policy, log, book, changed=lambda: None):
    return NetworkTrainer(policy, log, book, changed, device="cpu", threads=lambda: 1)


@pytest.fixture
def book():
    return Book()


@pytest.fixture
def start(book):
    running = []

    def start_it(policy, log=()):
        trainer = trainer_of(policy, log, book)
        running.append(trainer)
        trainer.start()
        return trainer

    yield start_it
    for trainer in running:
        assert trainer.close(30)


def test_that_it_learns_from_ratings_and_tells_each_step_like_any_run(start, book):
    policy = RouterPolicy()
    trainer = start(policy)
    assert trainer.wait_idle(60)
    assert trainer.state.steps == 0
    assert "begins to learn with the first ratings" in trainer.state.sentence
    rated(policy, 80)
    trainer.wake()
    assert trainer.wait_idle(60)
    steps = [event for event in book.events if isinstance(event, StepCompleted)]
    assert [event.step for event in steps] == list(range(1, trainer.state.steps + 1))
    assert {"reward", "advantage/std", "clip_ratio/region_mean", "kl"} <= dict(steps[-1].metrics).keys()
    (started,) = (event for event in book.events if isinstance(event, RunStarted))
    assert (started.run_id, started.step) == (7, 0)
    assert started.parameters > 0
    assert trainer.close(30)
    assert book.events[-1] == TrainerStatus(7, RunStatus.STOPPED, trainer.state.steps)


def test_that_in_learn_it_takes_over_by_itself_once_it_is_better_for_certain(start):
    log = []
    policy = rated(RouterPolicy(record=log.extend), 400)
    trainer = start(policy)
    assert trainer.wait_idle(60)
    (promoted,) = (event for event in log if isinstance(event, RouterPromoted))
    assert promoted.gain_low > LEAST_GAIN
    assert policy.state.policy_name == "network 1"
    assert not trainer.state.verdict.is_better  # than itself


def test_that_in_shadow_it_says_so_and_does_not_take_over(start):
    policy = RouterPolicy()
    policy.set_mode("shadow")
    trainer = start(rated(policy, 400))
    assert trainer.wait_idle(60)
    assert policy.state.policy_name == "table"
    assert trainer.state.verdict.is_better
    assert "takes over in learn only" in trainer.state.sentence
    with pytest.raises(BadInputError, match="mode `learn` only"):
        trainer.promote()
    policy.set_mode("learn")
    trainer.promote()
    assert policy.state.policy_name == "network 1"


def test_that_it_cannot_take_over_before_it_has_learned(start):
    trainer = start(RouterPolicy())
    assert trainer.wait_idle(60)
    with pytest.raises(BadInputError, match="has not learned anything"):
        trainer.promote()


def test_that_locked_it_learns_nothing_and_afterwards_all_that_waited(start):
    policy = RouterPolicy()
    policy.set_mode("locked")
    trainer = start(rated(policy, 80))
    assert trainer.wait_idle(60)
    assert trainer.state.steps == 0
    assert "locked" in trainer.state.sentence
    policy.set_mode("learn")
    trainer.wake()
    assert trainer.wait_idle(60)
    assert trainer.state.steps > 0


def test_that_made_from_the_log_it_goes_on_as_if_it_had_never_stopped(start):
    log = []
    policy = rated(RouterPolicy(record=log.extend), 80)
    first = start(policy)
    assert first.wait_idle(60)
    assert first.close(30)
    done = list(log)
    again = RouterPolicy(record=None)
    for event in done:
        again.take(event)
    second = trainer_of(again, done, Book())
    assert "made again" in second.state.sentence
    second.start()
    assert second.wait_idle(60)
    assert "made again" not in second.state.sentence
    assert second.state.steps == first.state.steps > 0
    assert second.digest == first.digest != ""
    assert second.close(30)


def test_that_a_network_of_a_device_that_is_not_here_is_named(start, book):
    log = []
    policy = rated(RouterPolicy(record=log.extend), 80)
    first = start(policy)
    assert first.wait_idle(60)
    elsewhere = [_on_another_device(event) for event in log]
    again = RouterPolicy()
    for event in elsewhere:
        again.take(event)
    trainer = start(again, elsewhere)
    assert trainer.wait_idle(60)
    assert "cuda:99 is not there" in trainer.state.sentence


def test_that_an_error_of_ours_ends_the_run_with_a_sentence_and_a_traceback(start, book, monkeypatch):
    policy = RouterPolicy()
    trainer = start(rated(policy, 80))
    assert trainer.wait_idle(60)

    def fail(_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(NetworkLearner, "step", fail)
    trainer.wake()
    assert trainer.wait_idle(60)
    assert "ZeroDivisionError: by zero" in trainer.state.sentence
    failed, status = book.events[-2:]
    assert isinstance(failed, RunFailed)
    assert "in fail" in failed.traceback
    assert status.status is RunStatus.FAILED


def test_that_the_run_is_in_the_history_and_one_run_goes_on_after_a_restart(opened):
    rated(opened.service.policy, 40)
    opened.service.set_mode("learn")
    assert opened.service.wait_idle(60)
    steps = opened.service.candidate.steps
    service = opened.reopen()
    assert service.wait_idle(60)
    assert service.candidate.run_id == 1
    rated(service.policy, 40, seed=1)
    service.set_mode("learn")
    assert service.wait_idle(60)
    opened.writer.flush()
    with StoreReader(opened.path) as reader:
        (run,) = reader.runs()
        groups = reader.groups_of_step(run.id, 1)
        points = reader.points(run.id, "reward")
    assert (run.origin, run.task, run.status) == ("router", "router", RunStatus.RUNNING)
    assert run.steps_done == service.candidate.steps > steps > 0
    assert points.steps.tolist() == list(range(1, run.steps_done + 1))
    assert groups
    for refused in (begins_anew, config_to_resume):
        with pytest.raises(BadInputError, match="learns by itself"):
            refused(replace(run, status=RunStatus.STOPPED))


def test_that_other_features_begin_a_new_network_in_a_run_of_its_own(opened):
    service = opened.service
    rated(service.policy, 40)
    service.set_mode("learn")
    assert service.wait_idle(60)
    steps = service.candidate.steps
    with pytest.raises(ModelError, match="nowhere"):
        service.set_features("nowhere")
    service.set_features("hashed n-grams")
    assert service.wait_idle(60)
    assert service.candidate.steps == steps
    opened.writer.flush()
    with StoreReader(opened.path) as reader:
        newer, older = reader.runs()
    assert (older.status, older.steps_done) == (RunStatus.STOPPED, steps)
    assert (newer.status, newer.steps_done) == (RunStatus.RUNNING, steps)


def test_that_a_rolled_back_network_stays_out_until_the_mode_says_learn(opened):
    service = opened.service
    rated(service.policy, 400)
    service.set_mode("learn")
    assert service.wait_idle(60)
    assert service.policy.state.policy_name == "network 1"
    service.roll_back()
    rated(service.policy, 60, seed=5)
    service.set_trade_off(service.policy.state.trade_off)
    assert service.wait_idle(60)
    assert (service.policy.state.policy_name, service.policy.state.mode) == ("table", "shadow")
    assert opened.reopen().policy.state.policy_name == "table"


def _on_another_device(event):
    return replace(event, device="cuda:99") if isinstance(event, RouterNetworkStarted) else event
