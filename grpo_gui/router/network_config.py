"""The options of the candidate network; free of torch."""

import math
from dataclasses import dataclass

from grpo_gui.errors import BadInputError
from grpo_gui.router.features import HashedNgrams


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """How the candidate network sees queries and learns; the names are TRL's where TRL has one.

    `features` is "hashed n-grams" or the folder of a sentence embedding model; `hidden` 0 is a linear layer, else the
    width of an MLP. Every rated group is seen about `passes` times; more of them fits noise. `full_voice_ratings` is
    after how many ratings it is no longer tied to the table.

    Raises:
        BadInputError: a value is out of its range.
    """

    features: str = HashedNgrams.name
    hidden: int = 0
    learning_rate: float = 0.01
    num_iterations: int = 4
    groups_per_step: int = 64
    passes: int = 3
    epsilon: float = 0.2
    beta: float = 0.001
    full_voice_ratings: int = 1000

    def __post_init__(self) -> None:
        for name, lowest in (
            ("hidden", 0),
            ("num_iterations", 1),
            ("groups_per_step", 1),
            ("passes", 1),
            ("full_voice_ratings", 1),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
                raise BadInputError(f"{name} is {value!r}; choose a whole number of {lowest} or more.")
        for name in ("learning_rate", "epsilon", "beta"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
                raise BadInputError(f"{name} is {value!r}; choose a number of 0 or more.")

    def gate(self, ratings: int) -> float:
        """How far the network has left the table, from 0 to 1."""
        return min(1.0, ratings / self.full_voice_ratings)
