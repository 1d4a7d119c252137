"""The options of the loss, named as TRL names them; free of torch."""

from dataclasses import dataclass

LOSS_TYPES = ("grpo", "bnpo", "dapo", "dr_grpo", "cispo")
IMPORTANCE_SAMPLING_LEVELS = ("token", "sequence")


@dataclass(frozen=True, slots=True)
class LossConfig:
    """What `grpo_loss` needs to know besides the tensors.

    The ratio is clipped to [1 - epsilon, 1 + epsilon_high]; for cispo `epsilon_high` itself is the cap (about 5).
    `delta` bounds the ratio from above also where the advantage is negative; cispo does not use it.
    `max_completion_length` is the configured length in tokens, used by dr_grpo only.

    Raises:
        ValueError: an unknown name, or an option that the loss type needs is missing.
    """

    loss_type: str = "grpo"
    importance_sampling_level: str = "token"
    epsilon: float = 0.2
    epsilon_high: float | None = None  # None: epsilon
    delta: float | None = None
    beta: float = 0.0
    use_bias_correction_kl: bool = False
    max_completion_length: int | None = None

    def __post_init__(self) -> None:
        if self.loss_type not in LOSS_TYPES:
            raise ValueError(f"loss_type is {self.loss_type!r}; choose one of {', '.join(LOSS_TYPES)}.")
        if self.importance_sampling_level not in IMPORTANCE_SAMPLING_LEVELS:
            level = self.importance_sampling_level
            raise ValueError(f"importance_sampling_level is {level!r}; choose token or sequence.")
        if self.loss_type == "dr_grpo" and self.max_completion_length is None:
            raise ValueError("dr_grpo divides by max_completion_length; set it.")
        if self.loss_type == "cispo" and self.epsilon_high is None:
            raise ValueError("cispo caps the ratio at epsilon_high (about 5); set it.")

    @property
    def upper_epsilon(self) -> float:
        """The upper clip width: `epsilon_high`, or `epsilon` where that is not set."""
        return self.epsilon if self.epsilon_high is None else self.epsilon_high
