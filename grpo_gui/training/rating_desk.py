"""Asks people between rollout and update: waits for their ratings where the run is set to, always steerable."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from grpo_gui.commands import SetRatingShrink
from grpo_gui.events import Event, GroupsSampled, HyperparameterChanged, RatingModeSet, RunStatus
from grpo_gui.rating.progress import RATING_USES
from grpo_gui.rating.queue import has_choice
from grpo_gui.training.controls import Controls, RatingChange
from grpo_gui.training.human_term import HumanTerm, with_human_values
from grpo_gui.training.learner import Learner, StepInProgress
from grpo_gui.training.people import People
from grpo_gui.training.rating_rules import AWAITING, check_rating_mode, rating_rules
from grpo_gui.training.rollout import judge
from grpo_gui.training.samples import group_samples, unlearned

POLL_S = 0.25  # between two looks for ratings; commands are obeyed at once
QUICK_S = 2.0  # a state that takes longer is saved now and then only
TELL_S = 10.0  # between two messages of the waiting time


class Meanwhile(NamedTuple):
    """What a trainer does while an update waits for ratings."""

    obey: Callable[[], None]  # do what the commands ask: raises to end the run, returns after a pause
    save: Callable[[], object]  # the state
    make_wished_snapshot: Callable[[], None]  # if one was asked for


class RatingDesk:
    """The trainer's part of rating.

    Args:
        people: the ratings.
        controls: the commands of the trainer.
        emit: takes events.
        become: sets the trainer's status, with a sentence.
        status: tells it.
    """

    def __init__(
        self,
        people: People,
        run_id: int,
        controls: Controls,
        emit: Callable[[Event], None],
        become: Callable[[RunStatus, str], None],
        status: Callable[[], RunStatus],
    ) -> None:
        self.people = people
        self._run_id, self._controls = run_id, controls
        self._emit, self._become, self._status = emit, become, status
        self._save_s = 0.0  # that saving took last time

    def take_up(self, learner: Learner, values: dict[str, Any]) -> None:
        """Go on with a run whose saved state has `values` of `People`, in the mode it was told last."""
        self.people.restore(values)
        mode = self.people.source.mode()
        if mode in RATING_USES:
            learner.config = replace(learner.config, rating_mode=mode)
            learner.next_config = replace(learner.next_config, rating_mode=mode)

    def ask(self, learner: Learner, progress: StepInProgress, meanwhile: Meanwhile) -> None:
        """Put what people say into a step whose rollout is done."""
        step, config = learner.step + 1, learner.config
        self.people.refresh()
        self._controls.take_continue_without()  # an answer to an earlier question
        if config.rating_mode == "wait":
            with learner.clock.stopped():
                self._wait(learner, progress, meanwhile)
        rules = rating_rules(config)
        assert rules is not None  # the run has a human reward
        term = self.people.term_of_step(step, rules, learner.policy, config)
        rollout = progress.rollout
        rewards = with_human_values(rollout.drawn.rewards, term, learner.scorer, config.num_generations)
        drawn = rollout.drawn._replace(rewards=rewards)
        progress.rollout = judge(drawn, rollout.read, rollout.prompt_ids, learner.scorer, config, term)
        progress.term = term

    def _wait(self, learner: Learner, progress: StepInProgress, meanwhile: Meanwhile) -> None:
        """Show the groups of the step and wait until enough of them are rated, or the user goes on without."""
        step = learner.step + 1
        rollout = progress.rollout
        groups = group_samples(rollout, unlearned(rollout), learner.policy.tokenizer, learner.scorer.sources)
        self._emit(GroupsSampled(self._run_id, step, groups))
        # Groups without a choice are shown to nobody: waiting for them would have no end.
        shown = {group.index for group in groups if has_choice(one.text for one in group.completions)}
        started_s = time.monotonic()
        told: tuple[int, int] | None = None
        while True:
            rated, skipped = self.people.answered_in_step(step)
            quorum = min(learner.config.rating_quorum, len(rated) + len(shown - rated - skipped))
            if len(rated) >= quorum:
                break
            if told is None and self._save_s < QUICK_S:
                begun_s = time.monotonic()
                meanwhile.save()  # what people said of earlier steps must count also when this process is killed now
                self._save_s = time.monotonic() - begun_s
            waited_s = time.monotonic() - started_s
            if (now := (len(rated), int(waited_s / TELL_S))) != told or self._status() is not RunStatus.WAITING:
                self._become(RunStatus.WAITING, waiting_sentence(step, len(rated), quorum, len(groups), waited_s))
                told = now
            self._controls.wait(POLL_S)
            meanwhile.obey()
            meanwhile.make_wished_snapshot()
            if self._controls.take_continue_without() or learner.next_config.rating_mode != "wait":
                break
            self.people.refresh()
        if told is not None:
            self._become(RunStatus.RUNNING, "")

    def settle(self, step: int, term: HumanTerm | None) -> dict[str, float]:
        """Note that a step is complete; return what it says about ratings."""
        self.people.refresh()
        if term is not None:
            self.people.settle(step, term)
        return self.people.metrics(step)

    def apply(self, learner: Learner, changes: list[RatingChange]) -> str | None:
        """Change how ratings are used from the next step on; a waiting update stops to wait.

        Returns a sentence when one of the changes cannot be made.
        """
        problem = None
        for change in changes:
            config = learner.next_config
            if isinstance(change, SetRatingShrink):
                wanted = replace(config, rating_shrink=change.on)
                values = float(config.rating_shrink), float(change.on)
                self._emit(HyperparameterChanged(self._run_id, learner.next_step, "rating_shrink", *values))
            else:
                wanted = replace(config, rating_mode=change.mode)
                if (sentence := check_rating_mode(wanted)) is not None:
                    problem = sentence
                    continue
                self._emit(RatingModeSet(self._run_id, learner.next_step, change.mode))
            learner.next_config = wanted
        return problem


def waiting_sentence(step: int, rated: int, quorum: int, groups: int, waited_s: float) -> str:
    """Say what an update waits for, and for how long it has."""
    minutes, seconds = divmod(int(waited_s), 60)
    return (
        f"Step {step} {AWAITING}: {rated} of its {groups} groups are rated, {quorum} are needed "
        f"(for {minutes}:{seconds:02d} now). Rate them in the Rate view, or continue without."
    )
