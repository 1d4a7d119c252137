"""Log-probabilities and entropy of the temperature-scaled distribution that tokens are sampled from."""

import torch
from torch import Tensor


def token_logps(logits: Tensor, ids: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the log-probability (..., T) of each of the `ids` (..., T) under its `logits` (..., T, V).

    The caller aligns them: in a sequence the logits at position t predict the token at t + 1. `temperature` > 0 is
    the one used for sampling.
    """
    scaled = logits / temperature
    chosen = scaled.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    return chosen - torch.logsumexp(scaled, -1)


@torch.no_grad()
def token_entropy(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """Return the entropy (..., T) in nats of the softmax of `logits` (..., T, V) / `temperature`.

    A logit of -inf (a token that cannot be sampled) adds nothing. It is a measurement and carries no gradient.
    """
    logps = torch.log_softmax(logits / temperature, -1)
    return torch.where(logps == -torch.inf, 0.0, -logps.exp() * logps).sum(-1)
