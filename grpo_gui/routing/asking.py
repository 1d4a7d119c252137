"""One query under way: the models asked answer side by side, each until its end, the time limit or a cancel."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grpo_gui.errors import GrpoGuiError
from grpo_gui.router_events import RouterDecided
from grpo_gui.routing.answers import Answerer, NoAnswerError, StoppedError, Wanted

WAITING, STREAMING, DONE, FAILED, CANCELLED = "waiting", "streaming", "done", "failed", "cancelled"
CANCELLED_SENTENCE = "It was cancelled."
_LONGEST_SHOWN_EVERY_S = 0.03  # of a growing answer; more often nobody can read


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one model is. `text` is all of it so far; `is_dead`: it should be tried before it is asked again."""

    decision: int
    model: str
    state: str  # waiting, streaming, done, failed, cancelled
    text: str
    tokens: int
    seconds: float
    sentence: str = ""
    is_dead: bool = False

    @property
    def is_over(self) -> bool:
        """True for the last one of a model."""
        return self.state in (DONE, FAILED, CANCELLED)


Tell = Callable[[Progress], None]


class Asking:
    """Starts one thread a model. `tell` is called from these threads, for each model last with `is_over`."""

    def __init__(
        self, decided: RouterDecided, answerers: Mapping[str, Answerer], time_limit_s: float, seed: int, tell: Tell
    ) -> None:
        self._tell = tell
        self._jobs = [
            _Job(
                decided.decision, model, answerers[model], Wanted(decided.query, seed + place, time_limit_s), self._told
            )
            for place, model in enumerate(decided.asked)
        ]
        self._time_limit_s = time_limit_s
        self._clock = threading.Timer(time_limit_s, self._time_is_up)
        self._clock.daemon = True
        self._clock.start()

    def start(self) -> None:
        """Ask all of them."""
        for job in self._jobs:
            job.start()

    def cancel(self) -> None:
        """End what is under way at once; a thread that waits for a server ends when its time is up."""
        self._clock.cancel()
        for job in self._jobs:
            job.end(CANCELLED, CANCELLED_SENTENCE)

    @property
    def is_over(self) -> bool:
        """True when every model has ended."""
        return all(job.over.is_set() for job in self._jobs)

    def wait(self, timeout_s: float) -> bool:
        """Wait until all have ended; False when they have not."""
        end = time.monotonic() + timeout_s
        return all(job.over.wait(max(0.0, end - time.monotonic())) for job in self._jobs)

    def _told(self, progress: Progress) -> None:
        self._tell(progress)
        if progress.is_over and all(job.over.is_set() or job.model == progress.model for job in self._jobs):
            self._clock.cancel()

    def _time_is_up(self) -> None:
        for job in self._jobs:
            job.end(FAILED, f"{job.model} did not finish within {self._time_limit_s:g} s.", is_dead=not job.has_spoken)


class _Job:
    """One model's answer; whoever ends it first decides how it ended."""

    def __init__(self, decision: int, model: str, answerer: Answerer, wanted: Wanted, tell: Tell) -> None:
        self.model = model
        self.over = threading.Event()
        self._decision, self._answerer, self._wanted, self._tell = decision, answerer, wanted, tell
        self._lock = threading.Lock()
        self._text, self._tokens, self._state = "", 0, WAITING
        self._started, self._told = time.monotonic(), 0.0

    @property
    def has_spoken(self) -> bool:
        """True once there is text."""
        return bool(self._text)

    def start(self) -> None:
        """Ask in a thread of its own, unless it was cancelled before."""
        with self._lock:
            if self._state != WAITING:
                return
            self._tell(self._progress())
        threading.Thread(target=self._run, name=f"answer of {self.model}", daemon=True).start()

    def end(self, state: str, sentence: str = "", *, is_dead: bool = False, tokens: int | None = None) -> None:
        """End it, unless it has ended."""
        with self._lock:
            if self._state in (DONE, FAILED, CANCELLED):
                return
            self._state, self._tokens = state, tokens or self._tokens
            self._tell(self._progress(sentence, is_dead=is_dead))
        self.over.set()

    def _run(self) -> None:
        try:
            tokens = self._answerer.answer(self._wanted, self._grew)
        except StoppedError:
            return
        except NoAnswerError as error:
            self.end(FAILED, str(error), is_dead=error.is_dead)
        except GrpoGuiError as error:
            self.end(FAILED, str(error), is_dead=True)
        else:
            self.end(DONE, tokens=tokens)
        finally:
            self.end(
                FAILED, f"{self.model} failed by an error of the program; the log holds the details.", is_dead=True
            )

    def _grew(self, piece: str, tokens: int) -> None:
        with self._lock:
            if self._state not in (WAITING, STREAMING):
                raise StoppedError
            if not piece and not tokens and self._state == WAITING:
                self._started = time.monotonic()
                return
            self._text += piece
            self._tokens += tokens
            now = time.monotonic()
            if self._state == STREAMING and now - self._told < _LONGEST_SHOWN_EVERY_S:
                return
            self._state, self._told = STREAMING, now
            self._tell(self._progress())

    def _progress(self, sentence: str = "", *, is_dead: bool = False) -> Progress:
        seconds = time.monotonic() - self._started
        return Progress(
            self._decision, self.model, self._state, self._text, self._tokens, seconds, sentence, is_dead=is_dead
        )
