"""Attention of groups written out by hand, forward and backward: the fast form for small shapes on a CPU.

Shapes: P prompts of L tokens, G completions each of T input tokens, K key-value heads shared by S query heads each,
head size D. "Heads first" is (P * K, ..., D): all rows that meet one prompt's keys of one head lie together.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.kernels import Context
from grpo_gui.language.layout import GroupLayout
from grpo_gui.language.rotary import rotate_quickly


@dataclass(frozen=True, slots=True)
class DirectAttention:
    """Sizes, rotary tables and masks, the same for all layers.

    `tables` are cosines and sines (N, 1, D); `causal` (S * L, L) and `own` (S * T, T) are 0 or -inf;
    `ending` (P, 1, 1, L) hides the places behind a prompt's end, None when all prompts are equally long.
    """

    layout: GroupLayout
    kv_heads: int
    shared: int
    scale: float
    tables: tuple[Tensor, Tensor]
    causal: Tensor
    own: Tensor
    ending: Tensor | None

    @classmethod
    def of(cls, layout: GroupLayout, config: DecoderConfig, tables: tuple[Tensor, Tensor]) -> "DirectAttention":
        """Prepare for a layout; the tables are (N, 1, D)."""
        shared = config.num_attention_heads // config.num_key_value_heads
        length = layout.prompts.width
        ending = None
        if layout.prompts.place is not None:
            behind = torch.arange(length) >= layout.prompt_lengths.unsqueeze(1)
            ending = torch.zeros(behind.shape).masked_fill_(behind, -torch.inf)[:, None, None]
        return cls(
            layout=layout,
            kv_heads=config.num_key_value_heads,
            shared=shared,
            scale=config.head_dim**-0.5,
            tables=tables,
            causal=_causal(length).repeat(shared, 1),
            own=_causal(layout.completions.width).repeat(shared, 1),
            ending=ending,
        )

    def split(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Rows (N, K * S', D) heads first: the prompts' (P * K, S' * L, D), the completions' (P * K, G * S' * T, D)."""
        layout, heads, dim = self.layout, rows.shape[1], rows.shape[2]
        prompts, completions = layout.prompts, layout.completions
        shared = heads // self.kv_heads
        first = prompts.dense(rows[: prompts.rows]).view(prompts.count, prompts.width, heads, dim)
        second = completions.dense(rows[prompts.rows : prompts.rows + completions.rows])
        second = second.view(prompts.count, layout.group_size, completions.width, self.kv_heads, shared, dim)
        first = first.transpose(1, 2).reshape(prompts.count * self.kv_heads, -1, dim)
        return first, second.permute(0, 3, 1, 4, 2, 5).reshape(len(first), -1, dim)

    def join(self, first: Tensor, second: Tensor) -> Tensor:
        """The inverse of `split`: rows (N, heads, D); filler rows are 0."""
        layout, dim = self.layout, first.shape[-1]
        prompts, completions = layout.prompts, layout.completions
        first = first.view(prompts.count, -1, prompts.width, dim).transpose(1, 2)
        heads = first.shape[2]
        second = second.view(prompts.count, self.kv_heads, layout.group_size, -1, completions.width, dim)
        second = second.permute(0, 2, 4, 1, 3, 5).reshape(completions.count, completions.width, heads, dim)
        filler = first.new_zeros(layout.filler, heads, dim)
        return torch.cat((prompts.flat(first), completions.flat(second), filler))

    def to_prompt(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Scores of completions' rows (P * K, G * S * T, D) for their prompt's keys (P * K, L, D)."""
        scores = torch.bmm(queries, keys.transpose(1, 2))
        if self.ending is not None:
            scores.view(len(self.ending), self.kv_heads, *scores.shape[1:]).add_(self.ending)
        return scores

    def by_completion(self, rows: Tensor) -> Tensor:
        """(P * K, G * X, ...) as (P * K * G, X, ...)."""
        return rows.reshape(len(rows) * self.layout.group_size, -1, rows.shape[-1])


def direct_attention(joint: Tensor, plan: DirectAttention) -> Tensor:
    """Attend: `joint` (N, K * S + 2 K, D) holds queries, keys and values, not yet rotated; returns (N, K * S * D)."""
    mixed: Tensor = _Attention.apply(joint, plan)  # type: ignore[no-untyped-call]  # torch's own
    return mixed


class _AttentionContext(Context, Protocol):
    plan: DirectAttention


class _Attention(torch.autograd.Function):
    """Softmax attention; see the module's docstring for the shapes."""

    @staticmethod
    def forward(ctx: _AttentionContext, joint: Tensor, plan: DirectAttention) -> Tensor:
        heads, kv_heads = plan.kv_heads * plan.shared, plan.kv_heads
        turned = rotate_quickly(joint[:, : heads + kv_heads], *plan.tables)
        prompt_q, own_q = plan.split(turned[:, :heads].mul_(plan.scale))
        prompt_k, own_k = plan.split(turned[:, heads:])
        prompt_v, own_v = plan.split(joint[:, heads + kv_heads :])
        own_k, own_v = plan.by_completion(own_k), plan.by_completion(own_v)
        prompt_w = torch.baddbmm(plan.causal, prompt_q, prompt_k.transpose(1, 2)).softmax(-1)
        to_prompt = plan.to_prompt(own_q, prompt_k)
        to_own = torch.baddbmm(plan.own, plan.by_completion(own_q), own_k.transpose(1, 2))
        own_w = torch.cat((to_prompt, to_own.view(*own_q.shape[:2], -1)), dim=-1).softmax(-1)
        of_prompt, of_own = own_w[..., : plan.causal.shape[1]], own_w[..., plan.causal.shape[1] :]
        mixed = torch.bmm(of_prompt, prompt_v)
        plan.by_completion(mixed).baddbmm_(plan.by_completion(of_own), own_v)
        ctx.save_for_backward(prompt_q, own_q, prompt_k, own_k, prompt_v, own_v, prompt_w, own_w)
        ctx.plan = plan
        return plan.join(torch.bmm(prompt_w, prompt_v), mixed).flatten(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: _AttentionContext, gradient: Tensor) -> tuple[Tensor, None]:
        plan = ctx.plan
        prompt_q, own_q, prompt_k, own_k, prompt_v, own_v, prompt_w, own_w = ctx.saved_tensors
        prompt_g, own_g = plan.split(gradient.view(len(gradient), plan.kv_heads * plan.shared, -1))
        # the prompts' own tokens
        scores = _softmax_back(torch.bmm(prompt_g, prompt_v.transpose(1, 2)), prompt_w)
        prompt_q_g = torch.bmm(scores, prompt_k)
        prompt_k_g = torch.bmm(scores.transpose(1, 2), prompt_q)
        prompt_v_g = torch.bmm(prompt_w.transpose(1, 2), prompt_g)
        # the completions' tokens, which also reach back into their prompt
        single_g = plan.by_completion(own_g)
        to_own = torch.bmm(single_g, own_v.transpose(1, 2)).view(*own_g.shape[:2], -1)
        scores = _softmax_back(torch.cat((torch.bmm(own_g, prompt_v.transpose(1, 2)), to_own), dim=-1), own_w)
        length = plan.causal.shape[1]
        to_prompt, to_own = scores[..., :length], plan.by_completion(scores[..., length:])
        own_q_g = torch.bmm(to_prompt, prompt_k)
        plan.by_completion(own_q_g).baddbmm_(to_own, own_k)
        prompt_k_g.baddbmm_(to_prompt.transpose(1, 2), own_q)
        prompt_v_g.baddbmm_(own_w[..., :length].transpose(1, 2), own_g)
        own_k_g = torch.bmm(to_own.transpose(1, 2), plan.by_completion(own_q))
        own_v_g = torch.bmm(plan.by_completion(own_w[..., length:]).transpose(1, 2), single_g)
        queries, keys = plan.join(prompt_q_g, own_q_g).mul_(plan.scale), plan.join(prompt_k_g, own_k_g)
        turned = rotate_quickly(torch.cat((queries, keys), dim=1), *plan.tables, direction=-1.0)
        return torch.cat((turned, plan.join(prompt_v_g, own_v_g)), dim=1), None


def _softmax_back(gradient: Tensor, weights: Tensor) -> Tensor:
    """Gradient of the scores from that of the softmax's output."""
    return torch._softmax_backward_data(gradient, weights, -1, weights.dtype)


def _causal(length: int) -> Tensor:
    return torch.full((length, length), -torch.inf).triu_(1)
