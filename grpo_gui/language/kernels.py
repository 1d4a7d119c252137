"""Matrix products of the fast paths."""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F


class Context(Protocol):
    """What the autograd Functions of this package use of torch's untyped context."""

    shape: torch.Size

    @property
    def saved_tensors(self) -> tuple[Tensor, ...]:
        """What forward kept."""

    def save_for_backward(self, *tensors: Tensor) -> None:
        """Keep tensors for backward."""


def linear(rows: Tensor, weight: Tensor) -> Tensor:
    """`rows` (N, in) times `weight` (out, in) transposed: (N, out)."""
    return F.linear(rows, weight)
