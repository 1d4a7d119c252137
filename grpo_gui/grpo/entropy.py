"""How undecided the policy is about each token."""

import torch
from torch import Tensor


@torch.no_grad()
def token_entropy(logps: Tensor) -> Tensor:
    """Return the entropy (...) in nats of distributions given by all their log-probabilities (..., V).

    They are those of the temperature-scaled logits, which tokens are sampled from. A token that cannot be sampled
    (-inf) adds nothing. It is a measurement and carries no gradient.
    """
    return -(logps.exp() * logps.clamp(min=torch.finfo(logps.dtype).min)).sum(-1)
