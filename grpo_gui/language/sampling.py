"""How the next token is drawn from logits: temperature, top-k, top-p, Gumbel-max."""

from dataclasses import dataclass

import torch
from torch import Tensor

_NOISE_AHEAD = 1 << 20  # numbers drawn in one call; more would only cost memory


@dataclass(frozen=True, slots=True)
class SamplingConfig:
    """Options of sampling.

    `temperature` 0 is greedy; `top_k` 0 and `top_p` 1 are off; `max_new_tokens` counts the EOS.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    max_new_tokens: int = 16


@dataclass(frozen=True, slots=True)
class Sampled:
    """Completions of P prompts, G each; row p * G + g; T is the longest one's length.

    `ids` (P * G, T) int64, filled with the pad id behind each end; `lengths` (P * G,) int64 count tokens up to
    and including the first EOS; `truncated` (P * G,) bool: no EOS came; `logps` (P * G, T) float32, 0 behind the end,
    of the whole softmax at the sampling temperature (at 1 when greedy): top-k and top-p are not in them.
    """

    ids: Tensor
    lengths: Tensor
    truncated: Tensor
    logps: Tensor


class TokenDraw:
    """Draws one token a row from logits with a seeded generator."""

    def __init__(self, sampling: SamplingConfig, generator: torch.Generator) -> None:
        self._sampling = sampling
        self._generator = generator
        self._noise: Tensor | None = None
        self._drawn = 0

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """Tokens (B,) and their log-probabilities (B,) for `logits` (B, vocabulary), which is overwritten."""
        logits = logits.float()
        if self._sampling.temperature not in (0.0, 1.0):
            logits.div_(self._sampling.temperature)
        normalizer = logits.logsumexp(-1)
        allowed = keep_likeliest(logits, self._sampling.top_k, self._sampling.top_p)
        if self._sampling.temperature == 0.0:
            tokens = allowed.argmax(-1)
        else:
            tokens = (allowed + self._gumbel(allowed)).argmax(-1)
        return tokens, logits.gather(-1, tokens.unsqueeze(-1)).squeeze(-1) - normalizer

    def _gumbel(self, logits: Tensor) -> Tensor:
        """Gumbel noise: the argmax of log-probabilities plus it is a sample (Gumbel 1954; arXiv 1411.0030)."""
        if self._noise is None or self._drawn == len(self._noise):
            ahead = max(1, min(self._sampling.max_new_tokens, _NOISE_AHEAD // logits.numel()))
            self._noise = _gumbel_noise((ahead, *logits.shape), self._generator).to(logits.device)
            self._drawn = 0
        self._drawn += 1
        return self._noise[self._drawn - 1]


def _gumbel_noise(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Float32 noise on the generator's device."""
    if generator.device.type == "cpu":  # exponential_ is three times slower there
        uniform = torch.rand(shape, dtype=torch.float64, generator=generator)
        waits = uniform.log_().neg_().float()
    else:
        waits = torch.empty(shape, device=generator.device).exponential_(generator=generator)
    return waits.clamp_min_(torch.finfo(torch.float32).tiny).log_().neg_()


def keep_likeliest(logits: Tensor, top_k: int, top_p: float) -> Tensor:
    """Logits (B, V) with all but the likeliest tokens at -inf.

    `top_k` keeps the k likeliest; then `top_p` keeps the smallest set of the rest whose probability reaches p
    (arXiv 1904.09751), at least one token. The input comes back unchanged when both are off.
    """
    if 0 < top_k < logits.shape[-1]:
        smallest = logits.topk(top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < smallest, -torch.inf)
    if top_p < 1.0:
        ordered, order = logits.sort(dim=-1, descending=True)
        shares = ordered.softmax(-1)
        before = shares.cumsum(-1) - shares  # probability of the strictly likelier tokens
        dropped = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before >= top_p)
        dropped.scatter_(-1, order[:, :1], value=False)
        logits = logits.masked_fill(dropped, -torch.inf)
    return logits
