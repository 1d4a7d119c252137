"""What a headless run prints: JSON lines, or a progress bar with a live line of metrics."""

import json
import math
import os
import sys
import time
from collections.abc import Mapping
from typing import Protocol, TextIO

from grpo_gui.cli.findings import live_line
from grpo_gui.diagnose.finding import Finding
from grpo_gui.events import (
    EvalCompleted,
    Event,
    HyperparameterChanged,
    RunFailed,
    RunStatus,
    StepCompleted,
    TrainerStatus,
)

BAR_WIDTH = 24


class Output(Protocol):
    """What a run is printed to."""

    def write(self, text: str, /) -> object:
        """Print."""

    def flush(self) -> object:
        """Hand on what was printed."""

    def isatty(self) -> bool:
        """True for a terminal."""


class JsonLines:
    """One flushed JSON line per step, with the metric names of the store; non-finite values are null.

    Held-out metrics belong to the line of the step they were measured after, so the line of a step
    with a due evaluation waits for it.
    """

    def __init__(self, stream: Output, errors: Output, *, steps: int, eval_steps: int) -> None:
        """Print to `stream`, what is no step to `errors`; `steps` and `eval_steps` tell when an evaluation is due."""
        self._stream = stream
        self._errors = errors
        self._steps = steps
        self._eval_steps = eval_steps
        self._held: dict[str, object] | None = None

    def __call__(self, event: Event) -> None:
        """Print what the event completes."""
        match event:
            case StepCompleted():
                self.flush()
                self._held = {
                    "step": event.step,
                    "optimizer_step": event.optimizer_step,
                    **_finite(dict(event.metrics)),
                }
                if not self._eval_due(event.step):
                    self.flush()
            case EvalCompleted():
                if self._held is not None and self._held["step"] == event.step:
                    self._held.update(_finite(dict(event.metrics)))
                    self.flush()
            case RunFailed():
                self.flush()
                self._errors.write(f"grpo-gui: {event.message}\n{event.traceback}")
            case TrainerStatus() if event.message and event.status is not RunStatus.FAILED:
                self._errors.write("\n".join(filter(None, (event.message, event.details))) + "\n")
            case _:
                pass

    def tell(self, finding: Finding) -> None:
        """Print a finding beside the lines."""
        self._errors.write(live_line(finding) + "\n")
        self._errors.flush()

    def flush(self) -> None:
        """Print the held line, if any."""
        if self._held is not None:
            self._stream.write(json.dumps(self._held, allow_nan=False) + "\n")
            self._stream.flush()
            self._held = None

    def _eval_due(self, step: int) -> bool:
        return self._eval_steps > 0 and (step % self._eval_steps == 0 or step == self._steps)


class ProgressLine:
    """A progress bar with a live line of metrics; on a pipe or file one line every tenth of the run."""

    def __init__(self, stream: Output, *, steps: int) -> None:
        """Draw on `stream` until `steps` steps are done."""
        self._stream = stream
        self._steps = steps
        self._live = stream.isatty()
        self._held_out = math.nan
        self._first: tuple[int, float] | None = None  # step and time of the first one that this run of ours saw
        self._width = 0
        self._waits = ""  # what the run was last said to wait for, without the time

    def __call__(self, event: Event) -> None:
        """Draw the event."""
        match event:
            case TrainerStatus(status=RunStatus.WAITING):
                self._wait(event.message)
            case EvalCompleted():
                self._held_out = dict(event.metrics).get("eval/accuracy", math.nan)
                if event.step == 0:
                    self._print(f"before training: held-out accuracy {self._held_out:.3f}")
            case StepCompleted():
                self._step(event)
            case HyperparameterChanged():
                self._print(f"step {event.step}: {event.name} {_plain(event.old)} -> {_plain(event.new)}")
            case TrainerStatus() if event.message and event.status is not RunStatus.FAILED:
                self._print("\n".join(filter(None, (event.message, event.details))))
            case RunFailed():
                self._print(event.message)
                if event.traceback:
                    self._print(event.traceback)
            case _:
                pass

    def tell(self, finding: Finding) -> None:
        """Print a finding above the bar."""
        self._print(live_line(finding))

    def _step(self, event: StepCompleted) -> None:
        now_s = time.monotonic()
        done = event.step
        is_first = self._first is None
        first, first_s = self._first = self._first or (done, now_s)
        rate = (done - first) / (now_s - first_s) if now_s > first_s else math.nan
        metrics = dict(event.metrics)
        self._held_out = metrics.get("eval/reward", self._held_out)  # a run of TRL has no accuracy
        filled = round(BAR_WIDTH * done / self._steps)
        line = (
            f"step {done}/{self._steps} [{'#' * filled}{'.' * (BAR_WIDTH - filled)}] "
            f"reward {_text(metrics, 'reward', 2)}  held-out {_number(self._held_out, 2)}  "
            f"kl {_text(metrics, 'kl', 3)}  clip {_text(metrics, 'clip_ratio/region_mean', 3)}  "
            f"entropy {_text(metrics, 'entropy', 2)}  loss {_text(metrics, 'loss', 3)}  "
            f"{_number(rate, 1)} steps/s  {_left(self._steps - done, rate)}"
        )
        if self._live:
            self._stream.write("\r" + line.ljust(self._width))
            self._width = len(line)
            if done == self._steps:
                self._stream.write("\n")
                self._width = 0
            self._stream.flush()
        elif is_first or done == self._steps or done % max(1, self._steps // 10) == 0:
            self._print(line)

    def _wait(self, sentence: str) -> None:
        """The time runs on in one place; where nothing can be drawn over, only news are printed."""
        what = sentence.partition("(")[0]
        if self._live:
            self._stream.write("\r" + sentence.ljust(self._width))
            self._width = len(sentence)
            self._stream.flush()
        elif what != self._waits:
            self._print(sentence)
        self._waits = what

    def _print(self, line: str) -> None:
        if self._live and self._width:
            self._stream.write("\n")
            self._width = 0
        self._stream.write(line + "\n")
        self._stream.flush()


def ending(status: RunStatus, run_id: int, database: str) -> str:
    """The last sentence of a headless run: how it ended and where it is kept."""
    return f"Run {run_id} {status.value}. Every completion is kept in {database}."


class PatientStream:
    """A stream for a long run: when nobody takes what is printed, or its disk is full, the run goes on in silence."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Print, where that works."""
        try:
            self._stream.write(text)
        except OSError:
            self._give_up()

    def flush(self) -> None:
        """Hand on what was printed, where that works."""
        try:
            self._stream.flush()
        except OSError:
            self._give_up()

    def isatty(self) -> bool:
        """True for a terminal."""
        return self._stream.isatty()

    def _give_up(self) -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())  # what Python still holds back must not fail at the exit either
        os.close(nothing)


def standard_output() -> TextIO:
    """Standard output with a harmless replacement for characters that its encoding lacks."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return sys.stdout


def patient_streams() -> tuple[PatientStream, PatientStream]:
    """Standard output and standard error for a long run."""
    return PatientStream(standard_output()), PatientStream(sys.stderr)


def _finite(metrics: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if math.isfinite(value) else None for name, value in metrics.items()}


def _plain(value: float | None) -> str:
    """A setting as people write it: whole numbers without a point."""
    if value is None:
        return "none"
    return f"{value:.0f}" if value.is_integer() else repr(value)


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def _text(metrics: Mapping[str, float], name: str, digits: int) -> str:
    return _number(metrics.get(name, math.nan), digits)


def _left(steps: int, rate: float) -> str:
    return f"{steps / rate:.0f} s left" if rate > 0 else ""
