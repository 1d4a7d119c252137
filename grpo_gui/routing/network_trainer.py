"""The thread in which the router's network learns from the ratings; it shows in the run history like any run."""

import logging
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from grpo_gui.errors import BadInputError, GrpoGuiError
from grpo_gui.events import Event, RunFailed, RunStarted, RunStatus, TrainerStatus
from grpo_gui.router.features import feature_source
from grpo_gui.router.groups import audited, training_groups
from grpo_gui.router.network_config import NetworkConfig
from grpo_gui.router.policy import RouterPolicy
from grpo_gui.router.replay import replay
from grpo_gui.router.state import LEARN
from grpo_gui.router_events import RouterEvent, RouterNetworkStarted
from grpo_gui.routing.candidate import AWAITED, LEAST_GAIN, CandidateState, candidate_sentence

if TYPE_CHECKING:
    from grpo_gui.router.learner import NetworkLearner, Verdict

logger = logging.getLogger(__name__)

CHECK_EVERY = 1.1  # a candidate may take over each time that it has been judged on so many times more decisions
LEAST_MORE = 10


class RunBook(Protocol):
    """Where the network's run is kept; called from the trainer's thread."""

    def open_run(self, config: dict[str, object], seed: int, device: str, step: int) -> int:
        """The id of the run that goes on with `step`, or of a new one."""

    def known_run(self, config: dict[str, object], steps: int) -> int | None:
        """The id of the run in which a network has made so many steps; None when it is not there."""

    def emit(self, event: Event) -> None:
        """Keep an event."""


class NetworkTrainer:
    """Learns whenever there is something to learn from, and lets the candidate take over in the mode `learn`.

    `log` is what the policy was made of: the network is made of it again before it goes on.
    """

    def __init__(
        self,
        policy: RouterPolicy,
        log: Sequence[RouterEvent],
        book: RunBook,
        changed: Callable[[], None],
        *,
        device: str,
        threads: Callable[[], int],
    ) -> None:
        self._policy, self._log, self._book, self._changed = policy, list(log), book, changed
        self._has_begun = any(isinstance(event, RouterNetworkStarted) for event in log)
        self._device, self._threads = device, threads
        self._restart_with: NetworkConfig | None = None
        self._learner: NetworkLearner | None = None
        self._verdict: Verdict | None = None
        self._run_id: int | None = None
        self._is_running = False  # the run has been told that it goes on
        self._checked_on = 0  # decisions, when it could take over last
        self._failure = ""
        self._busy = threading.Lock()  # of the learner
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="router network", daemon=True)

    def start(self) -> None:
        """Begin; what the log asks for is learned at once."""
        self._wake.set()
        self._thread.start()

    def wake(self) -> None:
        """There may be something new to learn from."""
        if self._thread.is_alive():
            self._idle.clear()
        self._wake.set()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until everything there is was learned from."""
        return self._idle.wait(timeout_s)

    def close(self, timeout_s: float) -> bool:
        """End after the step at hand; True when it has ended."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    @property
    def state(self) -> CandidateState:
        """Where the network stands now."""
        steps = 0 if self._learner is None else self._learner.steps
        with self._policy.lock:
            mode, judges = self._policy.state.mode, audited(self._policy.state)
        is_awaited = self._learner is None and self._has_begun
        sentence = self._failure or (AWAITED if is_awaited else candidate_sentence(steps, self._verdict, mode, judges))
        features = NetworkConfig().features if self._learner is None else self._learner.config.features
        return CandidateState(steps, self._verdict, self._run_id, sentence, features)

    def restart(self, features: str) -> None:
        """Let a new network begin that sees queries by other features; what the old one learned is let go.

        Raises:
            BadInputError: there are no such features.
            MissingExtraError, ModelError: the sentence embedding model cannot be used.
        """
        feature_source(features)
        self._restart_with = NetworkConfig(features=features)
        self.wake()

    @property
    def digest(self) -> str:
        """The sha256 of the network's weights; empty before it has learned anything."""
        return "" if self._learner is None else self._learner.digest

    def promote(self) -> None:
        """Let the candidate decide from now on.

        Raises:
            BadInputError: it has not learned anything, is not better for certain, or the mode is not `learn`.
        """
        with self._busy:
            if self._learner is None or self._learner.steps == 0:
                raise BadInputError("The network has not learned anything yet; rate more answers.")
            self._learner.promote(self._learner.verdict())
            self._verdict = self._learner.verdict()

    # -- in the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._loop()
        except GrpoGuiError as error:
            self._fail(str(error), "")
        except Exception as error:  # a trainer thread's top: nothing may get lost here
            logger.exception("The router's network failed.")
            sentence = f"The network stopped by an error of ours ({type(error).__name__}: {error}); please report it."
            self._fail(sentence, traceback.format_exc())
        self._idle.set()

    def _loop(self) -> None:
        while not self._closing:
            self._wake.wait()
            self._wake.clear()
            self._restart()
            while not self._closing and self._learn_once():
                pass
            if not self._closing:
                self._judge()
                if not self._wake.is_set():
                    self._idle.set()
        self._status(RunStatus.STOPPED)

    def _restart(self) -> None:
        config, self._restart_with = self._restart_with, None
        if config is None:
            return
        from grpo_gui.router.learner import NetworkLearner

        self._status(RunStatus.STOPPED)
        with self._busy:
            self._log = []
            self._learner = NetworkLearner.begin(self._policy, config, device=self._device)
            self._verdict, self._run_id, self._is_running, self._checked_on = None, None, False, 0

    def _learn_once(self) -> bool:
        """Make one training step; False when there is nothing to learn from."""
        if self._learner is None and not self._begin():
            return False
        learner = self._learner
        if learner is None:
            return False
        from grpo_gui.router.network_events import step_completed

        started = time.perf_counter()
        with self._busy:
            step = learner.step()
        if step is None:
            return False
        seconds, inner_steps = time.perf_counter() - started, learner.config.num_iterations
        run_id = self._open_run(learner)
        self._book.emit(step_completed(run_id, step, inner_steps=inner_steps, step_time_s=seconds))
        return True

    def _begin(self) -> bool:
        """Make the network of the log, or a new one once a rating can teach it."""
        with self._policy.lock:
            has_groups = bool(training_groups(self._policy.state))
        if not self._has_begun and not has_groups:
            return False
        import torch

        from grpo_gui.router.learner import NetworkLearner
        from grpo_gui.training.devices import choose_device

        torch.set_num_threads(self._threads())
        if self._has_begun:
            devices = [event.device for event in self._log if isinstance(event, RouterNetworkStarted)]
            choose_device(devices[-1])  # a sentence when the network was trained on a device that is not here
            learner = replay(self._log, make_learner=NetworkLearner.from_event).learner
            if learner is not None:
                learner.policy = self._policy  # which is where the log ends, or further on
                self._run_id = self._book.known_run(asdict(learner.config), learner.steps)
        else:
            learner = NetworkLearner.begin(self._policy, device=self._device)
        self._log = []
        self._learner = learner
        return learner is not None

    def _open_run(self, learner: "NetworkLearner") -> int:
        if self._is_running and self._run_id is not None:
            return self._run_id
        import torch

        seed = self._policy.state.seed
        run_id = self._book.open_run(asdict(learner.config), seed, learner.device, learner.steps)
        versions = (("torch", str(torch.__version__)),)
        self._book.emit(RunStarted(run_id, learner.steps - 1, learner.device, learner.parameters, versions))
        self._run_id, self._is_running = run_id, True
        self._status(RunStatus.RUNNING)
        return run_id

    def _judge(self) -> None:
        learner = self._learner
        if learner is None:
            return
        with self._policy.lock:
            mode, judges = self._policy.state.mode, audited(self._policy.state)
        with self._busy:
            self._verdict = learner.verdict()
            due = judges >= max(self._checked_on * CHECK_EVERY, self._checked_on + LEAST_MORE)
            if due and self._verdict.candidate is not None:
                self._checked_on = judges
                if self._verdict.gain.low > LEAST_GAIN and mode == LEARN:
                    learner.promote(self._verdict)
                    self._verdict = learner.verdict()
        self._changed()

    def _status(self, status: RunStatus, message: str = "") -> None:
        if self._run_id is not None and self._is_running:
            steps = 0 if self._learner is None else self._learner.steps
            self._book.emit(TrainerStatus(self._run_id, status, steps, message))

    def _fail(self, sentence: str, details: str) -> None:
        self._failure = sentence
        if self._run_id is not None and self._is_running:
            steps = 0 if self._learner is None else self._learner.steps
            self._book.emit(RunFailed(self._run_id, steps, sentence, details))
            self._status(RunStatus.FAILED, sentence)
        self._changed()
