"""The options of the default router policy, checked once."""

import math
from dataclasses import dataclass

from grpo_gui.errors import BadInputError


@dataclass(frozen=True, slots=True)
class RouterConfig:
    """How the default policy chooses, learns and forgets; one setting serves every stream of docs/router.md.

    `group_size` models are asked for each query. The table's softmax has `temperature` (0: always the best), weights
    within +-`logit_cap`, and gives every model at least `probability_floor` (with many models half a uniform share).
    `learning_rate` scales the policy gradient, `pull` is the share of the way to the live means that a weight goes at
    each group. `prior_strength` is how many ratings the prior of a class and model is worth; `exploration` scales the
    width of the Thompson draws, `proposal_floor` is their least share; `discount` is what each rating of a class
    leaves of the older ones.

    Raises:
        BadInputError: a value is out of its range.
    """

    group_size: int = 4
    temperature: float = 1.0
    learning_rate: float = 0.05
    pull: float = 0.3
    logit_cap: float = 4.0
    probability_floor: float = 0.02
    prior_strength: float = 12.0
    exploration: float = 0.45
    proposal_floor: float = 0.002
    discount: float = 0.999

    def __post_init__(self) -> None:
        if not isinstance(self.group_size, int) or isinstance(self.group_size, bool) or self.group_size < 1:
            raise BadInputError(f"group_size is {self.group_size!r}; ask at least 1 model for a query.")
        for name, lowest, highest in _RANGES:
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not math.isfinite(value) or not lowest <= value <= highest:
                raise BadInputError(f"{name} is {value!r}; choose a number from {lowest:g} to {highest:g}.")


_RANGES = (
    ("temperature", 0.0, 100.0),
    ("learning_rate", 0.0, 10.0),
    ("pull", 0.0, 1.0),
    ("logit_cap", 0.1, 100.0),
    ("probability_floor", 0.0, 0.5),
    ("prior_strength", 0.1, 1000.0),
    ("exploration", 0.0, 10.0),
    ("proposal_floor", 0.0, 0.5),
    ("discount", 0.5, 1.0),
)
