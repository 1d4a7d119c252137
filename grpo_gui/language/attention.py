"""Attention of groups: a prompt's keys and values are stored once and seen by all its completions."""

import torch
from torch import Tensor
from torch.nn import functional as F

from grpo_gui.language.layout import GroupLayout


def completion_mask(layout: GroupLayout, dtype: torch.dtype) -> Tensor:
    """What a completion's token may see: 0 or -inf, (P or 1, 1, 1, 1, T, L + T): its prompt, itself and before."""
    length, width = layout.prompts.width, layout.completions.width
    device = layout.ids.device
    lengths = layout.prompt_lengths if layout.prompts.place is not None else layout.prompt_lengths[:1]
    prompt = (torch.arange(length, device=device) < lengths.unsqueeze(1)).unsqueeze(1).expand(-1, width, -1)
    own = torch.ones(width, width, dtype=torch.bool, device=device).tril().expand(len(lengths), -1, -1)
    visible = torch.cat((prompt, own), dim=-1)
    mask = torch.zeros(visible.shape, dtype=dtype, device=device).masked_fill_(~visible, -torch.inf)
    return mask.view(len(lengths), 1, 1, 1, width, length + width)


def attend_prompts(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Causal attention inside each prompt: queries (P, L, heads, d), keys and values (P, L, kv_heads, d)."""
    shared = queries.shape[2] // keys.shape[2]
    keys, values = (part.repeat_interleave(shared, dim=2) if shared > 1 else part for part in (keys, values))
    mixed = F.scaled_dot_product_attention(
        queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), is_causal=True
    )
    return mixed.transpose(1, 2)


def attend_completions(
    queries: Tensor, keys: Tensor, values: Tensor, prompt_keys: Tensor, prompt_values: Tensor, mask: Tensor
) -> Tensor:
    """Attention of the completions' tokens to their prompt and to their own past.

    Args:
        queries: (P * G, T, heads, d).
        keys: the completions' own, (P * G, T, kv_heads, d); `values` likewise.
        values: see `keys`.
        prompt_keys: (P, L, kv_heads, d); `prompt_values` likewise.
        prompt_values: see `prompt_keys`.
        mask: see `completion_mask`.

    Returns:
        (P * G, T, heads, d).
    """
    rows, width, heads, dim = queries.shape
    prompts, length, kv_heads, _ = prompt_keys.shape
    group, shared = rows // prompts, heads // kv_heads
    # (P, kv_heads, G, shared, T, d): one matrix a prompt for its keys, one a completion for its own
    queries = queries.view(prompts, group, width, kv_heads, shared, dim).permute(0, 3, 1, 4, 2, 5)
    queries = queries.reshape(prompts * kv_heads, group * shared * width, dim) * dim**-0.5
    keys, values = (
        part.view(prompts, group, width, kv_heads, dim).permute(0, 3, 1, 2, 4).reshape(-1, width, dim)
        for part in (keys, values)
    )
    prompt_keys, prompt_values = (
        part.transpose(1, 2).reshape(prompts * kv_heads, length, dim) for part in (prompt_keys, prompt_values)
    )
    shape = (prompts, kv_heads, group, shared, width)
    to_prompt = torch.bmm(queries, prompt_keys.transpose(1, 2)).view(*shape, length)
    to_own = torch.bmm(queries.reshape(-1, shared * width, dim), keys.transpose(1, 2)).view(*shape, width)
    weights = (torch.cat((to_prompt, to_own), dim=-1) + mask).softmax(-1)
    of_prompt, of_own = torch.split(weights, [length, width], dim=-1)
    mixed = torch.bmm(of_prompt.reshape(prompts * kv_heads, -1, length), prompt_values).view(*shape, dim)
    mixed = mixed + torch.bmm(of_own.reshape(-1, shared * width, width), values).view(*shape, dim)
    return mixed.permute(0, 2, 4, 1, 3, 5).reshape(rows, width, heads, dim)
