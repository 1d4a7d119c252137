"""How a run waits for ratings, learns from late ones, and from stored ones; always steerable, never twice."""

import time
from dataclasses import replace

import pytest

from grpo_gui.commands import (
    ContinueWithout,
    HandOver,
    Pause,
    Resume,
    SaveSnapshot,
    SetRatingMode,
    SetRatingShrink,
    Stop,
)
from grpo_gui.errors import StoreError
from grpo_gui.events import (
    GroupRef,
    GroupsSampled,
    HyperparameterChanged,
    RatingModeSet,
    RatingsSettled,
    RunStatus,
    SnapshotSaved,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.training import learner as learner_module
from grpo_gui.training import rating_desk
from grpo_gui.training.config import RewardSpec
from grpo_gui.training.trainer import Trainer
from tests.training.fakes import LENGTH_REWARD, Rig, tiny_config
from tests.training.raters import MemoryRatings

HUMAN = (RewardSpec("human", "human"),)
RUN = 7


class RatedRig(Rig):
    """A trainer whose groups can be rated from the events it emits."""

    def __init__(self, config, folder, ratings=None, **fields):
        super().__init__(config, folder, **fields)
        self.ratings = ratings or MemoryRatings()
        self.reactions = []
        self.sink.on_event = self._react

    def _react(self, event):
        self.ratings.take(event)
        for reaction in self.reactions:
            reaction(event)

    def run(self):
        arguments = (self.sink, self.commands, self.state_dir, self.resume, self.snapshot)
        return Trainer(self.config, RUN, *arguments, ratings=self.ratings).run()

    def rate(self, step, index, **fields):
        """Prefer short completions in a group, all different."""
        group = self.ratings.groups[GroupRef(RUN, step, index)]
        order = sorted({one.text for one in group.completions}, key=lambda text: (len(text), text))
        values = [order.index(one.text) + 1 for one in group.completions]
        return self.ratings.rate(GroupRef(RUN, step, index), "ranks", values, **fields)

    def when(self, kind, action):
        self.reactions.append(lambda event: isinstance(event, kind) and action(event))
        return self

    @property
    def uses(self):
        return [(event.step, use) for event in self.sink.of(RatingsSettled) for use in event.uses]


def human_config(model, **changes):
    return tiny_config(
        model, **{"rewards": HUMAN, "multi_objective_aggregation": "normalize_then_sum", "steps": 6, **changes}
    )


@pytest.fixture
def make(tiny_model, tmp_path):
    def make(ratings=None, name="a", **changes):
        return RatedRig(human_config(tiny_model, **changes), tmp_path / name, ratings)

    return make


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(rating_desk, "POLL_S", 0.001)


def rate_after(rig, step, *indices, **fields):
    """Rate groups of `step` as soon as it is complete."""

    def rate(event):
        if event.step == step:
            for index in indices:
                rig.rate(step, index, **fields)

    return rig.when(StepCompleted, rate)


# -- async -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.0, 0.02])
def test_that_without_ratings_the_model_stays_exactly_as_it_is(make, beta):
    """Else Adam would make full steps of the rounding errors that are all that is left of the KL term."""
    rig = make(beta=beta)
    assert rig.run() is RunStatus.FINISHED
    assert [event.optimizer_step for event in rig.sink.of(StepCompleted)] == [0] * 6
    assert all(step["check/weights_change"] == 0 for step in rig.sink.steps)
    unknown = {"reward", "rewards/human/mean", "dead_groups/other", "advantage/std"}
    assert not any(unknown & step.keys() for step in rig.sink.steps)
    assert rig.uses == []
    assert rig.ratings.is_closed


def test_that_a_late_rating_enters_the_next_update_once_and_changes_the_model(make):
    rig = rate_after(make(beta=0.0), 2, 1)
    rig.run()
    ((step, use),) = rig.uses
    assert (step, use.group, use.outcome, use.rating_ids) == (3, GroupRef(RUN, 2, 1), "used", (1,))
    assert sum(use.values) == pytest.approx(0)
    changed = [step["check/weights_change"] > 0 for step in rig.sink.steps]
    assert changed[:3] == [False, False, True]
    assert rig.sink.steps[2]["ratings/used"] == 1
    assert rig.sink.steps[2]["ratings/late_ratio"] == pytest.approx(1, abs=0.2)
    assert rig.sink.steps[2]["rewards/human/mean"] == pytest.approx(0, abs=1e-9)
    assert "rewards/human/mean" not in rig.sink.steps[3]


def test_that_late_ratings_are_at_most_a_quarter_of_a_batch_and_the_others_wait(make):
    rig = rate_after(make(), 1, 0, 1, 2, 3)
    rig.run()
    assert [(step, use.group.index) for step, use in rig.uses] == [(2, 0), (3, 1), (4, 2), (5, 3)]
    assert [step["ratings/waiting"] for step in rig.sink.steps] == [0, 3, 2, 1, 0, 0]


def test_that_ratings_past_the_age_expire_visibly_and_are_not_learned_from(make):
    rig = make(beta=0.0, rating_max_age=2)
    rig.when(StepCompleted, lambda event: event.step == 4 and rig.rate(1, 0))
    rig.run()
    ((step, use),) = rig.uses
    assert (step, use.outcome) == (5, "expired")
    assert rig.sink.steps[-1]["ratings/expired"] == 1
    assert all(step["check/weights_change"] == 0 for step in rig.sink.steps)


def test_that_a_group_that_the_model_would_hardly_sample_any_more_expires(make, monkeypatch):
    monkeypatch.setattr("grpo_gui.training.people.effective_size", lambda policy, group, config: 1.9)
    rig = rate_after(make(), 1, 0)
    rig.run()
    assert [use.outcome for _, use in rig.uses] == ["expired"]


def test_that_fresh_groups_have_the_effective_size_of_their_number(make, monkeypatch):
    from grpo_gui.training import people

    sizes = []
    measure = people.effective_size

    def remember(policy, group, config):
        sizes.append((measure(policy, group, config), group.size))
        return sizes[-1][0]

    monkeypatch.setattr(people, "effective_size", remember)
    rate_after(make(beta=0.0), 1, 0).run()
    assert [(pytest.approx(size, rel=1e-4), 4) for size, _ in sizes] == sizes


def test_that_an_equal_rating_of_all_or_a_lone_one_is_kept_and_teaches_nothing(make):
    rig = make(beta=0.0)

    def rate(event):
        if event.step == 1:
            rig.ratings.rate(GroupRef(RUN, 1, 0), "all_bad", (None,) * 4)
            rig.ratings.rate(GroupRef(RUN, 1, 1), "scores", (5, None, None, None))
            rig.ratings.rate(GroupRef(RUN, 1, 2), "skip", (None,) * 4)

    rig.when(StepCompleted, rate).run()
    assert rig.uses == []
    assert all(step["check/weights_change"] == 0 for step in rig.sink.steps)


def test_that_a_rating_that_was_taken_back_is_not_learned_from(make):
    rig = make(beta=0.0)

    def rate(event):
        if event.step == 1:
            rating = rig.rate(1, 0)
            undone = replace(rating.event, mode="undone", values=(), positions=(), undoes=rating.id)
            rig.ratings.log.append(replace(rating, id=2, event=undone))

    rig.when(StepCompleted, rate).run()
    assert rig.uses == []


def test_that_a_rater_who_cannot_be_trusted_changes_nothing_and_that_it_can_be_turned_off(make):
    def with_repeats(rig):
        """Six groups rated one way and then the other way round."""

        def rate(event):
            if event.step == 2:
                for place, (step, index) in enumerate([(1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1)]):
                    first = rig.rate(step, index)
                    mirrored = tuple(-value + 9 for value in first.event.values)
                    again = replace(first.event, values=mirrored, is_repeat=True)
                    rig.ratings.log.append(replace(first, id=2 * place + 2, event=again))

        return rig.when(StepCompleted, rate)

    shrunk = with_repeats(make(beta=0.0))
    shrunk.run()
    assert [step["ratings/trust"] for step in shrunk.sink.steps[2:]] == [0, 0, 0, 0]
    assert all(step["check/weights_change"] == 0 for step in shrunk.sink.steps)
    full = with_repeats(make(name="b", beta=0.0, rating_shrink=False))
    full.run()
    assert full.sink.steps[2]["check/weights_change"] > 0


def test_that_a_new_rater_moves_the_model_by_a_quarter_of_the_learning_rate(make):
    """Adam takes the size out of the gradient, so the shrink would be lost if it shortened the advantages alone."""
    trusted, new = (
        rate_after(make(name=name, beta=0.0, max_grad_norm=0.0, rating_shrink=shrink), 1, 0)
        for name, shrink in (("a", False), ("b", True))
    )
    trusted.run()
    new.run()
    full, quarter = trusted.sink.steps[1], new.sink.steps[1]
    assert quarter["ratings/trust"] == 0.25
    assert quarter["learning_rate"] == pytest.approx(full["learning_rate"] / 4)
    assert quarter["check/weights_change"] == pytest.approx(full["check/weights_change"] / 4, rel=0.05)


def test_that_the_programs_reward_is_learned_from_beside_the_ratings(make):
    both = (*LENGTH_REWARD, *HUMAN)
    plain = make(rewards=both)
    plain.run()
    rated = rate_after(make(name="b", rewards=both), 2, 0)
    rated.run()
    assert plain.sink.steps[:2] == rated.sink.steps[:2]
    assert plain.sink.steps[0]["check/weights_change"] > 0
    assert plain.sink.steps[2]["loss"] != rated.sink.steps[2]["loss"]


def test_that_equal_seeds_and_ratings_give_equal_numbers(make):
    one, other = (rate_after(rate_after(make(name=name), 1, 0, 2), 3, 1) for name in "ab")
    one.run()
    other.run()
    assert str(one.sink.steps) == str(other.sink.steps)
    assert len(one.uses) == 3


def test_that_the_audit_sample_alone_is_compared_with_the_program(make):
    rig = make(rewards=(*LENGTH_REWARD, *HUMAN))
    rate_after(rig, 1, 0, is_audit=True)
    rate_after(rig, 3, 0)
    rig.run()
    measured = [step.get("ratings/audit_tau") for step in rig.sink.steps]
    assert measured[1] is not None
    assert -1 <= measured[1] <= 1
    assert measured[2:] == [None] * 4
    assert [step.get("ratings/seconds") for step in rig.sink.steps] == [None, 2, None, 2, None, None]


# -- wait ------------------------------------------------------------------------------------------------------------


def waiting(rig):
    return [event.message for event in rig.sink.of(TrainerStatus) if event.status is RunStatus.WAITING]


def test_that_an_update_waits_for_its_quorum_and_learns_from_it(make):
    rig = make(rating_mode="wait", steps=2, beta=0.0)
    told = []

    def rate_one_more(event):
        if event.status is RunStatus.WAITING and event.message:
            told.append(event.message)
            rig.rate(event.step + 1, len(told) % 2)

    rig.when(TrainerStatus, rate_one_more)
    assert rig.run() is RunStatus.FINISHED
    assert told[0].startswith("Step 1 waits for ratings: 0 of its 4 groups are rated, 2 are needed (for 0:00 now).")
    assert told[1].startswith("Step 1 waits for ratings: 1 of its 4")
    assert [(step, use.group.step, use.outcome) for step, use in rig.uses] == [
        (1, 1, "used"),
        (1, 1, "used"),
        (2, 2, "used"),
        (2, 2, "used"),
    ]
    assert all(step["check/weights_change"] > 0 for step in rig.sink.steps)
    completed = rig.sink.of(StepCompleted)[0].groups
    human = [[dict(one.rewards)["human"] for one in group.completions] for group in completed]
    assert [all(value is None for value in group) for group in human] == [False, False, True, True]
    advantages = [[one.advantage for one in group.completions] for group in completed]
    assert [any(group) for group in advantages] == [True, True, False, False]


def test_that_the_groups_are_published_before_the_update(make):
    rig = make(rating_mode="wait", steps=1)
    rig.when(GroupsSampled, lambda event: [rig.rate(1, index) for index in (0, 1)])
    rig.run()
    (sampled,), (completed,) = rig.sink.of(GroupsSampled), rig.sink.of(StepCompleted)
    assert rig.sink.events.index(sampled) < rig.sink.events.index(completed)
    texts = [[one.text for one in group.completions] for group in sampled.groups]
    assert texts == [[one.text for one in group.completions] for group in completed.groups]
    one = sampled.groups[0].completions[0]
    assert one.old_logps == one.logps == completed.groups[0].completions[0].old_logps
    assert dict(one.rewards)["human"] is None


def on_waiting(rig, *commands):
    """Post commands the first time the run waits."""
    left = list(commands)

    def post(event):
        if event.status is RunStatus.WAITING and left:
            rig.commands.put(left.pop(0))

    return rig.when(TrainerStatus, post)


def test_that_a_waiting_update_goes_on_without(make):
    rig = on_waiting(make(rating_mode="wait", steps=1), ContinueWithout())
    assert rig.run() is RunStatus.FINISHED
    assert rig.uses == []
    assert rig.sink.statuses[-3:] == [RunStatus.WAITING, RunStatus.RUNNING, RunStatus.FINISHED]


def test_that_a_snapshot_asked_for_while_an_update_waits_is_made_at_once_and_kept(make):
    rig = on_waiting(make(rating_mode="wait", steps=2), SaveSnapshot())
    rig.when(SnapshotSaved, lambda event: event.reason == "hand" and rig.commands.put(Stop()))
    assert rig.run() is RunStatus.STOPPED
    snapshot, *_ = rig.sink.of(SnapshotSaved)
    assert (snapshot.step, snapshot.reason) == (0, "hand")
    assert rig.sink.of(StepCompleted) == []


def answer_at_step(rig, step, action):
    """Call `action` with the index of each group as soon as the step is published."""
    return rig.when(GroupsSampled, lambda event: event.step == step and [action(group.index) for group in event.groups])


def test_that_an_update_does_not_wait_for_groups_that_were_all_skipped_but_one(make):
    rig = make(rating_mode="wait", steps=1)
    nothing = (None,) * 4
    skip = rig.ratings.rate
    answer_at_step(rig, 1, lambda index: skip(GroupRef(RUN, 1, index), "skip", nothing) if index else rig.rate(1, 0))
    assert rig.run() is RunStatus.FINISHED
    assert [use.group.index for _, use in rig.uses] == [0]


def test_that_an_update_does_not_wait_for_groups_whose_answers_are_all_alike(make, monkeypatch):
    def alike(*arguments):
        return tuple(
            replace(group, completions=tuple(replace(one, text="7") for one in group.completions))
            for group in group_samples(*arguments)
        )

    group_samples = rating_desk.group_samples
    monkeypatch.setattr(rating_desk, "group_samples", alike)
    rig = make(rating_mode="wait", steps=2)
    assert rig.run() is RunStatus.FINISHED
    assert waiting(rig) == []


def test_that_another_mode_ends_the_waiting_and_holds_for_the_run(make):
    rig = on_waiting(make(rating_mode="wait", steps=3), SetRatingMode("async"))
    assert rig.run() is RunStatus.FINISHED
    assert len(waiting(rig)) == 1
    assert rig.sink.of(RatingModeSet) == [RatingModeSet(RUN, 2, "async")]


def test_that_a_waiting_run_can_be_stopped(make):
    rig = on_waiting(make(rating_mode="wait", steps=3), Stop())
    assert rig.run() is RunStatus.STOPPED
    assert rig.sink.of(StepCompleted) == []


def test_that_a_waiting_run_can_be_paused_rated_and_resumed(make):
    rig = on_waiting(make(rating_mode="wait", steps=1), Pause())

    def rate_and_resume(event):
        if event.status is RunStatus.PAUSED:
            rig.rate(1, 0)
            rig.rate(1, 3)
            rig.commands.put(Resume())

    rig.when(TrainerStatus, rate_and_resume)
    assert rig.run() is RunStatus.FINISHED
    assert [use.group.index for _, use in rig.uses] == [0, 3]


def test_that_a_waiting_run_says_so_again_after_a_pause(make):
    rig = on_waiting(make(rating_mode="wait", steps=1), Pause(), ContinueWithout())
    rig.when(TrainerStatus, lambda event: event.status is RunStatus.PAUSED and rig.commands.put(Resume()))
    assert rig.run() is RunStatus.FINISHED
    order = [status for status in rig.sink.statuses if status is not RunStatus.WARMING_UP]
    assert order[1:] == [
        RunStatus.WAITING,
        RunStatus.PAUSED,
        RunStatus.RUNNING,
        RunStatus.WAITING,
        RunStatus.RUNNING,
        RunStatus.FINISHED,
    ]


def test_that_a_waiting_run_can_be_handed_over_and_waits_elsewhere(make):
    ratings = MemoryRatings()
    first = on_waiting(make(ratings, rating_mode="wait", steps=1), HandOver())
    assert first.run() is RunStatus.HANDED_OVER
    elsewhere = RatedRig(first.config, first.state_dir, ratings, resume=True)
    assert on_waiting(elsewhere, ContinueWithout()).run() is RunStatus.FINISHED


def test_that_a_run_stopped_while_waiting_samples_the_same_groups_when_it_is_resumed(make, tiny_model, tmp_path):
    ratings = MemoryRatings()
    first = on_waiting(make(ratings, rating_mode="wait", steps=1), Stop())
    first.run()
    first.rate(1, 0)
    first.rate(1, 1)
    again = RatedRig(first.config, first.state_dir, ratings, resume=True)
    assert again.run() is RunStatus.FINISHED
    (before,), (after,) = first.sink.of(GroupsSampled), again.sink.of(GroupsSampled)
    assert [g.completions[0].text for g in before.groups] == [g.completions[0].text for g in after.groups]
    assert [use.group.index for _, use in again.uses] == [0, 1]
    assert waiting(again) == []


def test_that_a_run_killed_while_it_waits_goes_on_from_the_step_that_waited(make):
    ratings = MemoryRatings()
    first = make(ratings, rating_mode="wait", steps=3)

    def rate_or_die(event):
        if event.status is RunStatus.WAITING and event.message:
            if event.step == 1:
                raise KeyboardInterrupt  # as good as a kill: nothing is saved after it
            first.rate(1, 0)
            first.rate(1, 1)

    with pytest.raises(KeyboardInterrupt):
        first.when(TrainerStatus, rate_or_die).run()
    again = on_waiting(RatedRig(first.config, first.state_dir, ratings, resume=True), ContinueWithout(), Stop())
    again.run()
    assert waiting(again)[0].startswith("Step 2 waits for ratings")


def test_that_waiting_counts_for_no_part_of_the_step_time(make, monkeypatch):
    rig = make(rating_mode="wait", steps=1)
    start = time.monotonic()

    def rate_later(event):
        if event.status is RunStatus.WAITING and time.monotonic() - start < 60:
            rig.commands.put(ContinueWithout())

    clock = iter(range(0, 10**6, 1000))
    monkeypatch.setattr(rating_desk.time, "monotonic", lambda: next(clock))
    rig.when(TrainerStatus, rate_later).run()
    (step,) = rig.sink.of(StepCompleted)
    assert dict(step.metrics)["step_time"] < 100


def test_that_an_unknown_mode_is_refused_with_a_sentence(make):
    rig = make(steps=2)
    rig.commands.put(SetRatingMode("sometimes"))
    assert rig.run() is RunStatus.FINISHED
    assert any("one of wait, async, offline" in event.message for event in rig.sink.of(TrainerStatus))


def test_that_the_shrinking_can_be_switched_while_training(make):
    rig = make(steps=2)
    rig.commands.put(SetRatingShrink(False))
    rig.run()
    assert rig.sink.of(HyperparameterChanged) == [HyperparameterChanged(RUN, 1, "rating_shrink", 1.0, 0.0)]


# -- offline, resuming -----------------------------------------------------------------------------------------------


def test_that_an_offline_run_learns_from_the_ratings_that_were_there_when_it_was_resumed(make):
    ratings = MemoryRatings()
    first = make(ratings, rating_mode="offline", steps=2, beta=0.0)
    rate_after(first, 1, 0)
    assert first.run() is RunStatus.FINISHED
    assert first.uses == []  # rated while it trained: kept for later
    first.rate(2, 1)
    again = RatedRig(replace(first.config, steps=6), first.state_dir, ratings, resume=True)
    rate_after(again, 3, 2)
    assert again.run() is RunStatus.FINISHED
    assert {(use.group.step, use.group.index) for _, use in again.uses} == {(1, 0), (2, 1)}
    assert {step for step, _ in again.uses} == {3, 4, 5, 6}
    assert all(step["check/weights_change"] > 0 for step in again.sink.steps)


def test_that_a_resumed_run_never_learns_twice_from_a_rating(make):
    ratings = MemoryRatings()
    first = make(ratings, steps=3)
    rate_after(first, 1, 0, 1)
    first.run()
    again = RatedRig(replace(first.config, steps=6), first.state_dir, ratings, resume=True)
    again.run()
    assert [use.group.index for _, use in first.uses] == [0, 1]
    assert again.uses == []


def test_that_a_pause_in_the_middle_of_a_step_with_late_ratings_changes_no_number(make):
    straight = rate_after(make(name="a", num_iterations=3), 1, 0)
    straight.run()

    ratings = MemoryRatings()
    broken = rate_after(make(ratings, name="b", num_iterations=3), 1, 0)
    calls = []

    update = learner_module.inner_update

    def counted(*args):
        calls.append(args)
        if len(calls) == 5:  # the second inner update of step 2
            broken.commands.put(Stop())
        return update(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learner_module, "inner_update", counted)
        assert broken.run() is RunStatus.STOPPED
    again = RatedRig(broken.config, broken.state_dir, ratings, resume=True)
    again.run()
    assert str(broken.sink.steps + again.sink.steps) == str(straight.sink.steps)
    assert broken.uses + again.uses == straight.uses


def test_that_the_mode_survives_a_resume(make):
    ratings = MemoryRatings()
    first = on_waiting(make(ratings, rating_mode="wait", steps=2), SetRatingMode("async"))
    first.run()
    again = RatedRig(replace(first.config, steps=4), first.state_dir, ratings, resume=True)
    assert again.run() is RunStatus.FINISHED
    assert waiting(again) == []


def test_that_a_database_that_cannot_be_read_for_a_while_loses_no_rating(make, monkeypatch, caplog):
    rig = rate_after(make(), 1, 0)
    entries, calls = rig.ratings.entries, []

    def sometimes(after_id):
        calls.append(after_id)
        if len(calls) in (3, 4):
            raise StoreError("The database is busy.")
        return entries(after_id)

    monkeypatch.setattr(rig.ratings, "entries", sometimes)
    assert rig.run() is RunStatus.FINISHED
    assert [(step, use.outcome) for step, use in rig.uses] == [(3, "used")]
    assert "Ratings wait: The database is busy." in caplog.text


def test_that_a_mode_that_was_set_while_the_run_was_at_rest_holds(make):
    ratings = MemoryRatings()
    first = make(ratings, steps=1)
    first.run()
    ratings.told_mode = "wait"
    again = on_waiting(RatedRig(replace(first.config, steps=2), first.state_dir, ratings, resume=True), Stop())
    assert again.run() is RunStatus.STOPPED
    assert len(waiting(again)) == 1


def test_that_a_run_without_a_human_reward_never_looks_for_ratings(make):
    rig = make(rewards=LENGTH_REWARD, multi_objective_aggregation="sum_then_normalize", steps=2)
    rig.ratings.entries = None  # would raise
    assert rig.run() is RunStatus.FINISHED
