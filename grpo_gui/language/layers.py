"""The parts of a decoder layer that work on flat rows, shared by sampling and training."""

from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder, Layer
from grpo_gui.language.kernels import linear


def layers_of(decoder: Decoder) -> list[Layer]:
    """The decoder's layers in order, typed."""
    return [cast(Layer, layer) for layer in decoder.model.layers]


def norm(rows: Tensor, weight: Tensor, config: DecoderConfig) -> Tensor:
    """Root-mean-square norm of (N, hidden)."""
    return F.rms_norm(rows, (config.hidden_size,), weight, config.rms_norm_eps)


def project_heads(rows: Tensor, layer: Layer) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (N, heads, head_dim), keys and values (N, kv_heads, head_dim) of normed rows (N, hidden)."""
    attention = layer.self_attn
    joint = linear(rows, torch.cat((attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight)))
    heads = joint.view(len(rows), -1, attention.head_dim)
    queries, keys, values = torch.split(heads, [attention.heads, attention.kv_heads, attention.kv_heads], dim=1)
    return queries, keys, values


def feed_forward(rows: Tensor, layer: Layer) -> Tensor:
    """The gated feed-forward part on normed rows (N, hidden)."""
    joint = linear(rows, torch.cat((layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight)))
    gate, up = joint.chunk(2, dim=-1)
    return linear(F.silu(gate) * up, layer.mlp.down_proj.weight)
