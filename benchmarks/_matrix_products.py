"""The matrix products of one training step, timed alone: the bound that a step's time is compared with."""

import time
from collections import Counter
from dataclasses import dataclass

import torch
from torch import Tensor

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.kernels import linear
from grpo_gui.language.layout import ROW_MULTIPLE


@dataclass(frozen=True, slots=True)
class StepShape:
    """A step of P prompts of equal length with G completions of `new_tokens` each, and its inner updates."""

    prompts: int
    group_size: int
    prompt_tokens: int
    new_tokens: int
    inner_updates: int


class MatrixProducts:
    """Every product with a weight matrix that one step does (attention's own products are left out).

    A step computes each prompt once and each completion token once: in the rollout token by token, for the reference
    and each inner update all at once, and twice that on the way back.
    """

    def __init__(self, config: DecoderConfig, step: StepShape) -> None:
        counts = _products(config, step)
        self.gflop = sum(2e-9 * rows * inner * out * count for (rows, inner, out), count in counts.items())
        generator = torch.Generator().manual_seed(0)
        self._work: list[tuple[Tensor, Tensor, int]] = [
            (torch.randn(rows, inner, generator=generator), torch.randn(out, inner, generator=generator), count)
            for (rows, inner, out), count in counts.items()
        ]

    def seconds(self) -> float:
        """Time all products once, with the kernel that training uses (oneDNN on a CPU unless clearly slower)."""
        with torch.inference_mode():
            start = time.perf_counter()
            for rows, weight, count in self._work:
                for _ in range(count):
                    linear(rows, weight)
            return time.perf_counter() - start


def _products(config: DecoderConfig, step: StepShape) -> Counter[tuple[int, int, int]]:
    """How often a product (rows, in) x (in, out) occurs, by (rows, in, out)."""
    width, inner = config.hidden_size, config.intermediate_size
    heads = config.num_attention_heads * config.head_dim
    joint = heads + 2 * config.num_key_value_heads * config.head_dim
    matrices = [(width, joint), (heads, width), (width, 2 * inner), (inner, width)] * config.num_hidden_layers
    head = (width, config.vocab_size)
    completions = step.prompts * step.group_size
    used = step.prompts * step.prompt_tokens + completions * (step.new_tokens - 1)
    packed = used + -used % ROW_MULTIPLE
    scored = completions * step.new_tokens
    counts: Counter[tuple[int, int, int]] = Counter()
    for rows, weights, times in (
        (step.prompts * step.prompt_tokens, matrices, 1),  # rollout: the prompts
        (step.prompts, [head], 1),
        (completions, [*matrices, head], step.new_tokens - 1),  # rollout: token by token
        (packed, matrices, 1 + step.inner_updates),  # the reference, and each update's way forward
        (scored, [head], 1 + step.inner_updates),
    ):
        for fan_in, fan_out in weights:
            counts[rows, fan_in, fan_out] += times
    for rows, weights in ((packed, matrices), (scored, [head])):  # each update's way back
        for fan_in, fan_out in weights:
            counts[rows, fan_out, fan_in] += step.inner_updates  # gradient of the rows
            counts[min(fan_in, fan_out), rows, max(fan_in, fan_out)] += step.inner_updates  # of the weights
    return counts
