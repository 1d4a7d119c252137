"""What the diagnosis reads of samples: the events' records fit, and so do the store's."""

from collections.abc import Sequence
from typing import Protocol


class SampledCompletion(Protocol):
    """One completion. The blobs hold a float32 (little-endian) a token, and are empty where they were not recorded."""

    @property
    def text(self) -> str:
        """The completion as text."""

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Up to and including the first EOS."""

    @property
    def truncated(self) -> bool:
        """Whether it was cut off at max_completion_length."""

    @property
    def correct(self) -> bool | None:
        """Whether it is the answer; None where there is none to compare with."""

    @property
    def reward(self) -> float | None:
        """Weighted sum over the sources that spoke; None when all abstained."""

    @property
    def rewards(self) -> tuple[tuple[str, float | None], ...]:
        """(source, unweighted value or None)."""

    @property
    def advantage(self) -> float:
        """How much better than its group."""

    @property
    def old_logps(self) -> bytes:
        """Log-probabilities under the policy that sampled."""

    @property
    def logps(self) -> bytes:
        """Log-probabilities at the last inner update."""

    @property
    def ref_logps(self) -> bytes:
        """Log-probabilities under the reference policy."""


class SampledGroup(Protocol):
    """The completions of one prompt; `index` is its place in the step."""

    @property
    def index(self) -> int:
        """The prompt's place in the step, from 0."""

    @property
    def prompt(self) -> str:
        """The prompt as text."""

    @property
    def completions(self) -> Sequence[SampledCompletion]:
        """In order of their place in the group."""
