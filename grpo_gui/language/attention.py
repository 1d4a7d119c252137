"""Attention of groups: a prompt's keys and values are computed once and seen by all its completions."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.direct_attention import DirectAttention, direct_attention
from grpo_gui.language.kernels import is_plain_float32
from grpo_gui.language.layout import GroupLayout
from grpo_gui.language.rotary import rotary_tables, rotate

_DIRECT_SCORES = 1 << 22  # above this the weights of all heads, kept for backward, would take too much memory


@dataclass(frozen=True, slots=True)
class GroupAttention:
    """What the attention of one layout needs besides queries, keys and values; the same for all layers.

    `tables` are the rotary cosines and sines (N, 1, head_dim); `visible` (P or 1, 1, T, L + T) says which keys a
    completion's token sees: its prompt, itself and its own past. `direct` is there for small shapes on a CPU.
    """

    layout: GroupLayout
    heads: int
    kv_heads: int
    tables: tuple[Tensor, Tensor]
    visible: Tensor
    direct: DirectAttention | None

    @classmethod
    def of(cls, layout: GroupLayout, config: DecoderConfig, dtype: torch.dtype) -> "GroupAttention":
        """Prepare tables and masks for hidden states of `dtype`."""
        cosines, sines = rotary_tables(config, layout.positions)
        tables = (cosines.unsqueeze(1).to(dtype), sines.unsqueeze(1).to(dtype))
        prompts, completions = layout.prompts, layout.completions
        length, width = prompts.width, completions.width
        device = layout.ids.device
        lengths = layout.prompt_lengths if prompts.place is not None else layout.prompt_lengths[:1]
        of_prompt = (torch.arange(length, device=device) < lengths.view(-1, 1, 1)).expand(-1, width, -1)
        own = torch.ones(width, width, dtype=torch.bool, device=device).tril()
        visible = torch.cat((of_prompt, own.expand(len(lengths), -1, -1)), dim=-1).unsqueeze(1)
        scores = completions.count * config.num_attention_heads * width * (length + width)
        small = is_plain_float32(device, dtype) and scores <= _DIRECT_SCORES
        direct = DirectAttention.of(layout, config, tables) if small else None
        return cls(layout, config.num_attention_heads, config.num_key_value_heads, tables, visible, direct)

    def __call__(self, joint: Tensor) -> Tensor:
        """Attend: `joint` (N, heads + 2 kv_heads, head_dim) is queries, keys, values; returns (N, heads * head_dim)."""
        if self.direct is not None:
            return direct_attention(joint, self.direct)
        layout = self.layout
        queries, keys, values = torch.split(joint, [self.heads, self.kv_heads, self.kv_heads], dim=1)
        queries, keys = rotate(queries, *self.tables), rotate(keys, *self.tables)
        parts = [layout.prompts.rows, layout.completions.rows, layout.filler]
        prompt_q, own_q, filler = torch.split(queries, parts)
        (prompt_k, own_k, _), (prompt_v, own_v, _) = torch.split(keys, parts), torch.split(values, parts)
        prompt_k, prompt_v = layout.prompts.dense(prompt_k), layout.prompts.dense(prompt_v)
        own_k, own_v = layout.completions.dense(own_k), layout.completions.dense(own_v)
        of_prompts = attend_prompts(layout.prompts.dense(prompt_q), prompt_k, prompt_v)
        keys = torch.cat((prompt_k.repeat_interleave(layout.group_size, dim=0), own_k), dim=1)
        values = torch.cat((prompt_v.repeat_interleave(layout.group_size, dim=0), own_v), dim=1)
        visible = self.visible
        if len(visible) > 1:
            visible = visible.repeat_interleave(layout.group_size, dim=0)
        of_completions = _attend(layout.completions.dense(own_q), keys, values, visible)
        mixed = torch.cat((layout.prompts.flat(of_prompts), layout.completions.flat(of_completions), filler))
        return mixed.flatten(1)


def attend_prompts(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Causal attention inside each prompt: queries (P, L, heads, d), keys and values (P, L, kv_heads, d)."""
    return _attend(queries, keys, values, None)


def _attend(queries: Tensor, keys: Tensor, values: Tensor, visible: Tensor | None) -> Tensor:
    """Attention with heads behind the positions, as rows have them; causal when `visible` is None."""
    shared = queries.shape[2] // keys.shape[2]
    queries, keys, values = (part.transpose(1, 2) for part in (queries, keys, values))
    if shared > 1:
        keys, values = keys.repeat_interleave(shared, dim=1), values.repeat_interleave(shared, dim=1)
    mixed = F.scaled_dot_product_attention(queries, keys, values, attn_mask=visible, is_causal=visible is None)
    return mixed.transpose(1, 2)
