"""What a person asks of a running trainer: small frozen dataclasses of plain values that pickle."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pause:
    """Finish the micro-batch at hand, save the training state, and wait."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on after a pause."""


@dataclass(frozen=True, slots=True)
class Step:
    """Do one step, then pause."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End the run after the micro-batch at hand and save the training state."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """Save the training state and end this trainer, so that another process of ours can go on."""


@dataclass(frozen=True, slots=True)
class SaveSnapshot:
    """Make a snapshot after the step at hand, or at once while paused or waiting for ratings; it is pinned."""


@dataclass(frozen=True, slots=True)
class SetHyperparameters:
    """Change what may change while running, from the next step on. None leaves a value as it is.

    `resets_epsilon_high` lets epsilon_high be the same as epsilon again, which the config writes as None.
    """

    learning_rate: float | None = None
    beta: float | None = None
    epsilon: float | None = None
    epsilon_high: float | None = None
    temperature: float | None = None
    resets_epsilon_high: bool = False


@dataclass(frozen=True, slots=True)
class SetRatingMode:
    """Use ratings in another way from the next step on: wait, async or offline; a waiting update stops to wait."""

    mode: str


@dataclass(frozen=True, slots=True)
class SetRatingShrink:
    """Let the weight of ratings shrink with the unreliability of their raters, or not, from the next step on."""

    on: bool


@dataclass(frozen=True, slots=True)
class ContinueWithout:
    """Let the update that waits for ratings go on with those that are there."""


Command = (
    Pause
    | Resume
    | Step
    | Stop
    | HandOver
    | SaveSnapshot
    | SetHyperparameters
    | SetRatingMode
    | SetRatingShrink
    | ContinueWithout
)
