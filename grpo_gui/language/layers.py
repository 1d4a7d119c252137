"""The parts of a decoder layer that work on flat rows, shared by sampling and training."""

from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from grpo_gui.language.config import DecoderConfig
from grpo_gui.language.decoder import Decoder, Layer
from grpo_gui.language.kernels import gated, linear


def layers_of(decoder: Decoder) -> list[Layer]:
    """The decoder's layers in order, typed."""
    return [cast(Layer, layer) for layer in decoder.model.layers]


def norm(rows: Tensor, weight: Tensor, config: DecoderConfig) -> Tensor:
    """Root-mean-square norm of (N, hidden)."""
    return F.rms_norm(rows, (config.hidden_size,), weight, config.rms_norm_eps)


def joint_weight(layer: Layer) -> Tensor:
    """One matrix for queries, keys and values: ((heads + 2 kv_heads) * head_dim, hidden)."""
    attention = layer.self_attn
    return torch.cat((attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight))


def feed_forward(rows: Tensor, layer: Layer) -> Tensor:
    """The gated feed-forward part on normed rows (N, hidden)."""
    mlp = layer.mlp
    return linear(gated(rows, mlp.gate_proj.weight, mlp.up_proj.weight), mlp.down_proj.weight)
