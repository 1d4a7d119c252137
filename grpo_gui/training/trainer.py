"""The training loop: does the steps, obeys the commands, says what happens."""

import logging
import queue
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch

from grpo_gui.commands import Command
from grpo_gui.errors import BadInputError, RewardError, SnapshotError, TrainingError
from grpo_gui.events import (
    EvalCompleted,
    Event,
    HyperparameterChanged,
    RatingsSettled,
    RunStarted,
    RunStatus,
    StateSaved,
    StepCompleted,
    TrainerStatus,
)
from grpo_gui.language.memory import keep_freed_memory
from grpo_gui.tasks.problem import Problem, held_out_shortage
from grpo_gui.training.changes import changed_config
from grpo_gui.training.config import TrainConfig
from grpo_gui.training.controls import Controls, Wish
from grpo_gui.training.devices import (
    check_bf16,
    choose_device,
    device_label,
    free_memory_bytes,
    is_out_of_memory,
    make_repeatable,
    out_of_memory_sentence,
    versions,
)
from grpo_gui.training.evaluation import evaluate
from grpo_gui.training.first_step import first_step_metrics
from grpo_gui.training.handle import EventSink
from grpo_gui.training.learner import FinishedStep, Learner, StepInProgress
from grpo_gui.training.learner_state import capture, restore
from grpo_gui.training.machine import machine_metrics
from grpo_gui.training.memory_forecast import forecast_sentence
from grpo_gui.training.people import People
from grpo_gui.training.preparing import load_learner
from grpo_gui.training.rating_desk import Meanwhile, RatingDesk
from grpo_gui.training.rating_rules import has_human_reward
from grpo_gui.training.rating_source import RatingSource
from grpo_gui.training.run_task import task_of
from grpo_gui.training.samples import group_samples
from grpo_gui.training.save_clock import SaveClock
from grpo_gui.training.snapshotting import Snapshotter
from grpo_gui.training.state import load_state, newest_state, save_state
from grpo_gui.training.taking_up import take_up_snapshot
from grpo_gui.training.validation import advice, config_from_json, validate

logger = logging.getLogger(__name__)

T = TypeVar("T")

CONGESTION_POLL_S = 0.05
AFTER_MENDING = "Mend it and press Resume to try again; without a window it ends here: run grpo-gui resume."
FLUSH_TIMEOUT_S = 5.0  # for the record to catch up with a state that is about to be saved


class _EndOfRunError(Exception):
    """Leaves the loop from between two micro-batches."""

    def __init__(self, status: RunStatus) -> None:
        super().__init__(status.value)
        self.status = status


class Trainer:
    """Trains one run. Plain Python: knows a config, a sink for events and a queue of commands; no Qt, no SQL.

    The cyclic garbage collector is left as the program set it: with a window it runs on the GUI thread.

    Args:
        config: validated when the run starts.
        run_id: goes into every event.
        sink: takes the events.
        commands: read between micro-batches. Those that wait before the start count too: after a Step the run does
            one step and pauses.
        state_dir: the run's own folder for training states and snapshots; made when the first one is saved.
        resume: go on with this run, from the newest state in `state_dir` or from `snapshot`, instead of starting anew.
        snapshot: begin where this snapshot was made; without `resume` it is another run's, and this one its branch.
        ratings: where to find those of people; a run without a human reward does not look.
    """

    def __init__(
        self,
        config: TrainConfig,
        run_id: int,
        sink: EventSink,
        commands: "queue.SimpleQueue[Command]",
        state_dir: Path,
        resume: bool = False,
        snapshot: Path | None = None,
        ratings: RatingSource | None = None,
    ) -> None:
        self._config = config
        self._run_id = run_id
        self._sink = sink
        self._controls = Controls(commands)
        self._state_dir = state_dir
        self._resume = resume
        self._snapshot = snapshot
        self._status = RunStatus.WARMING_UP
        self._snapshots = Snapshotter(config, run_id, state_dir, sink.emit)
        self._ratings = ratings if has_human_reward(config) else None
        people = None if self._ratings is None else People(self._ratings, run_id)
        says = sink.emit, self._become, lambda: self._status
        self._desk = None if people is None else RatingDesk(people, run_id, self._controls, *says)
        self._save_clock = SaveClock()
        self._saved: Path | None = None  # the newest state
        self._steps_before = config.steps  # of the state that the run goes on from
        self.step = 0  # complete steps, also for whoever reports a failure
        self._held_out: list[Problem] = []
        self._waited_s = 0.0  # for the store, before the step at hand

    def run(self) -> RunStatus:
        """Train until all steps are done or a command ends the run; return how it ended.

        Raises:
            GrpoGuiError: the run cannot start, or cannot go on (the last good weights are saved then).
        """
        with ExitStack() as open_things:
            if self._ratings is not None:
                open_things.callback(self._ratings.close)
            learner = self._prepare()
            open_things.callback(learner.scorer.close)
            return self._run(learner)

    def _run(self, learner: Learner) -> RunStatus:
        try:
            self._train(learner)
        except _EndOfRunError as end:
            return self._end(learner, end.status)
        except TrainingError:
            self._save(learner)
            raise
        return self._end(learner, RunStatus.FINISHED)

    def _prepare(self) -> Learner:
        self._say("Loading the model.")
        validate(self._config)
        torch.set_num_threads(self._config.threads)
        keep_freed_memory()
        device = choose_device(self._config.device)
        check_bf16(device, bf16=self._config.bf16)
        task = task_of(self._config, self._say)
        make_repeatable(device)
        if (memory := forecast_sentence(self._config, free_memory_bytes(device))) is not None:
            self._say(f"Loading the model. {memory}")
        learner = load_learner(self._config, device, task)
        self._take_up(learner)
        self.step = learner.step
        notes = list(advice(self._config).values())
        if self._config.eval_steps:
            self._held_out = task.held_out(self._config.eval_prompts)
            notes += filter(None, [held_out_shortage(task, self._config.eval_prompts)])
        parameters = sum(parameter.numel() for parameter in learner.policy.parameters())
        self._emit(RunStarted(self._run_id, learner.step, device_label(device), parameters, versions()))
        if self._desk is not None:
            self._sink.flush(FLUSH_TIMEOUT_S)  # ratings of groups that are put aside now must not be found
        if self._steps_before != self._config.steps:
            steps = float(self._steps_before), float(self._config.steps)
            self._emit(HyperparameterChanged(self._run_id, learner.next_step, "steps", *steps))
        if self._snapshot is not None:
            notes += filter(None, [self._save(learner)])  # from now on the run goes on from here, not from elsewhere
        self._become(RunStatus.RUNNING, " ".join(notes))
        return learner

    def _take_up(self, learner: Learner) -> None:
        """Put a new learner where this run begins: in a snapshot, in its newest state, or at the start."""
        if self._snapshot is not None:
            manifest, values = take_up_snapshot(learner, self._snapshot, is_branch=not self._resume)
            self._snapshots.note_step(manifest.metrics)
            if self._desk is not None:
                self._desk.take_up(learner, values.get("ratings", {}))
            if self._resume:
                self._take_up_values(values)
            else:
                self._snapshots.branch_from(manifest)
        elif self._resume:
            self._load(learner)
        self._snapshots.begin(learner)

    def _load(self, learner: Learner) -> None:
        if (path := newest_state(self._state_dir)) is None:
            raise TrainingError(f"There is no training state in {self._state_dir} to go on from; start a new run.")
        state = load_state(path)
        restore(learner, state, ratings=self._ratings)
        if self._desk is not None:
            self._desk.take_up(learner, state.values.get("ratings", {}))
        self._take_up_values(state.values)

    def _take_up_values(self, values: dict[str, Any]) -> None:
        self._snapshots.restore(values.get("snapshots", {}))
        self._steps_before = config_from_json(values["config"]).steps

    def _train(self, learner: Learner) -> None:
        if not self._resume:
            self._evaluate(learner)
        while learner.step < self._config.steps:
            self._wait_for_store(learner)
            self._obey(learner)
            finished = self._once_it_fits(
                learner,
                lambda: learner.do_step(lambda: self._obey(learner), lambda step: self._ask_people(learner, step)),
                f"in step {learner.step + 1}",
            )
            self._report(learner, finished)
            last = learner.step == self._config.steps
            if self._config.eval_steps and (last or learner.step % self._config.eval_steps == 0):
                self._evaluate(learner)
            self._keep(learner)
            self._controls.step_done()

    def _obey(self, learner: Learner) -> None:
        """Take the waiting commands and do what they ask; returns when training shall go on."""
        self._controls.poll()
        self._apply_changes(learner)
        if self._controls.wish is Wish.PAUSE:
            with learner.clock.stopped():
                self._pause(learner, "")
        if self._controls.wish is Wish.STOP:
            raise _EndOfRunError(RunStatus.STOPPED)
        if self._controls.wish is Wish.HAND_OVER:
            raise _EndOfRunError(RunStatus.HANDED_OVER)

    def _pause(self, learner: Learner, message: str, details: str = "") -> None:
        problem = self._save(learner)
        self._become(RunStatus.PAUSED, " ".join(filter(None, (message, problem))), details)
        self._make_wished_snapshot(learner)
        while self._controls.wish is Wish.PAUSE:
            self._controls.wait()
            if self._apply_changes(learner):
                self._save(learner)
            self._make_wished_snapshot(learner)
        if self._controls.wish is Wish.RUN:
            self._become(RunStatus.RUNNING)

    def _ask_people(self, learner: Learner, progress: StepInProgress) -> None:
        if self._desk is not None:
            obey, save = partial(self._obey, learner), partial(self._save, learner)
            meanwhile = Meanwhile(obey, save, partial(self._make_wished_snapshot, learner))
            self._desk.ask(learner, progress, meanwhile)

    def _wait_for_store(self, learner: Learner) -> None:
        self._waited_s = 0.0
        while (sentence := self._sink.congestion()) is not None:
            if self._status is not RunStatus.WAITING:
                self._become(RunStatus.WAITING, sentence)
            started_s = time.perf_counter()
            self._controls.wait(CONGESTION_POLL_S)
            self._waited_s += time.perf_counter() - started_s
            self._obey(learner)
        if self._status is RunStatus.WAITING:
            self._become(RunStatus.RUNNING)

    def _once_it_fits(self, learner: Learner, work: Callable[[], T], where: str) -> T:
        """Return what `work` returns; where memory or a reward fails, pause with a sentence and try again on resume."""
        while True:
            sentence = details = ""
            try:
                return work()
            except RewardError as error:
                sentence, details = f"{error} {AFTER_MENDING}", error.details
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
            # Outside of the handler: the traceback would keep the memory in use.
            learner.release_memory()
            self._controls.pause()
            sentence = sentence or out_of_memory_sentence(learner.config, learner.policy.device, where)
            self._pause(learner, sentence, details)
            self._obey(learner)

    def _apply_changes(self, learner: Learner) -> bool:
        """Take over changed hyperparameters for the next step; True when there were any."""
        changes = self._controls.take_changes()
        rating_changes = self._controls.take_rating_changes()
        if self._desk is not None and (problem := self._desk.apply(learner, rating_changes)):
            self._say(f"Not changed: {problem}")
        for change in changes:
            try:
                config, changed = changed_config(learner.next_config, change)
            except BadInputError as error:
                self._emit(TrainerStatus(self._run_id, self._status, learner.step, f"Not changed: {error}"))
                continue
            learner.next_config = config
            for name, old, new in changed:
                self._emit(HyperparameterChanged(self._run_id, learner.next_step, name, old, new))
        return bool(changes or rating_changes)

    def _report(self, learner: Learner, finished: FinishedStep) -> None:
        clock = learner.clock
        clock.parts["store"] = clock.parts.get("store", 0.0) + self._waited_s
        with clock.measure("store"):
            sources = learner.scorer.sources
            groups = group_samples(finished.rollout, finished.last_update, learner.policy.tokenizer, sources)
        tokens = sum(len(ids) for ids in finished.rollout.read.completion_ids)
        total_s = clock.total_s()
        metrics = finished.metrics | machine_metrics(learner.policy.device, self._state_dir, self._sink)
        metrics |= {f"time/{part}": seconds for part, seconds in clock.parts.items()}
        metrics |= {"step_time": total_s, "tokens_per_second": tokens / total_s}
        if learner.step == 1:
            metrics |= first_step_metrics(self._config, learner.scorer, finished.rollout)
        if self._desk is not None:
            metrics |= self._desk.settle(learner.step, finished.term)
        self.step = learner.step
        self._snapshots.note_step(metrics)
        self._emit(
            StepCompleted(
                self._run_id, learner.step, learner.optimizer_step, time.time(), tuple(metrics.items()), groups
            )
        )
        if finished.term is not None and (uses := finished.term.uses()):
            self._emit(RatingsSettled(self._run_id, learner.step, uses))

    def _evaluate(self, learner: Learner) -> None:
        if not self._held_out:
            return
        metrics = self._once_it_fits(
            learner,
            lambda: evaluate(learner.policy, self._held_out, learner.scorer, self._config),
            f"in the evaluation after step {learner.step}",
        )
        self._snapshots.note_evaluation(metrics)
        self._emit(EvalCompleted(self._run_id, learner.step, time.time(), tuple(metrics.items())))

    def _end(self, learner: Learner, status: RunStatus) -> RunStatus:
        problem = self._save(learner)
        reason = {RunStatus.FINISHED: "end", RunStatus.STOPPED: "stop"}.get(status)
        if reason is not None and not problem and self._snapshots.is_new(learner):
            problem = self._make_snapshot(learner, reason, self._saved)
        self._become(status, problem)
        return status

    def _keep(self, learner: Learner) -> None:
        """Between two steps: make the snapshot that is due or was asked for, or save the state now and then."""
        self._controls.poll()
        reason = "hand" if self._controls.take_snapshot_wish() else self._snapshots.due(learner.step)
        if reason is None and not self._save_clock.is_due():
            return
        self._sink.flush(FLUSH_TIMEOUT_S)
        with self._save_clock.saving():
            problem = "" if reason is not None and self._config.save_only_model else self._save(learner)
            if reason is not None and not problem:
                problem = self._make_snapshot(learner, reason, self._saved)
        if problem:
            self._say(problem)

    def _make_wished_snapshot(self, learner: Learner) -> None:
        """While the run stands still: make a snapshot if one was asked for."""
        if not self._controls.take_snapshot_wish():
            return
        if problem := self._save(learner) or self._make_snapshot(learner, "hand", self._saved):
            self._say(problem)

    def _save(self, learner: Learner) -> str:
        """Save the training state; return a sentence when that failed (the run itself is not harmed)."""
        state = capture(learner)
        state.values["snapshots"] = self._snapshots.values()
        if self._desk is not None:
            state.values["ratings"] = self._desk.people.values()
        try:
            self._saved = save_state(self._state_dir, state)
        except TrainingError as error:
            logger.warning("%s", error)
            self._saved = None  # an older state must not pass for this one
            return str(error)
        self._emit(StateSaved(self._run_id, learner.step, str(self._saved)))
        return ""

    def _make_snapshot(self, learner: Learner, reason: str, state: Path | None) -> str:
        """Make a snapshot with that state; return a sentence when that failed (the run itself is not harmed)."""
        try:
            self._snapshots.make(learner, reason, None if self._config.save_only_model else state)
        except SnapshotError as error:
            logger.warning("%s", error)
            return str(error)
        return ""

    def _become(self, status: RunStatus, message: str = "", details: str = "") -> None:
        self._status = status
        self._say(message, details)

    def _say(self, message: str, details: str = "") -> None:
        self._emit(TrainerStatus(self._run_id, self._status, self.step, message, details))

    def _emit(self, event: Event) -> None:
        self._sink.emit(event)
